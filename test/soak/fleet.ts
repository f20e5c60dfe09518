import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startKeeper } from '../lab/link/namespace-link.ts'
import { binaryOf } from '../lab/peers/build.ts'
import { runProgram } from '../lab/process/program.ts'
import { endWorkers, startWorker } from '../lab/process/worker.ts'
import { scriptPath } from '../lab/script-path.ts'
import { sum } from '../lab/statistics.ts'
import type { MakeStar, StarTasks } from './keeper.ts'
import type { Ended, Failure, Kind, Over, Peer, Sample, SoakTasks, StackName, Told } from './tasks.ts'
import type { LinkShape } from '../lab/link/link.ts'
import type { Program } from '../lab/process/program.ts'
import type { Worker, WorkerGroup } from '../lab/process/worker.ts'

/** The JavaScript stacks of a fleet: a process of each on each line, so that the two have the same to do */
export const FLEETS: Record<string, Array<Exclude<StackName, 'go'>>> = { mixed: ['ours', 'official'], official: ['official', 'official'] }

/** From each host to the router in the middle */
export const LINES = [[1, 100], [15, 30], [50, 10]].map(([delay, rate]): LinkShape => ({ delay, bottleneck: { rate, queue: 262_144 } }))
const GO_PEERS = 4

/** A second, of each node: two fleets of a hundred take half of a core that is faster than 2 GHz */
const RATES = { query: 0.02, block: 0.001, gossip: 0.0005 }

/** What a new host in Go sends each time, and how often, in ms */
const DIAL = { bytes: 262_144, interval: 5_000, timeout: 60_000 }

/** A third of the nodes is stopped once in this time, each for `DOWNTIME`. In ms */
const CHURN = 600_000
const DOWNTIME = 5_000

/** What a peer may not know yet, and how long a socket may linger, in ms */
const GRACE = 1_000
const LINGER = 35_000

/** Of a worker without nodes: one for each kind of load */
export const OWN_TIMERS = 3

/** Something that comes and goes */
interface Member {
  name: string
  stack: StackName
  start(): Promise<string>
  stop(): Promise<unknown>
}

export interface Process {
  name: string
  stack: StackName
  samples: Array<Sample & { minute: number }>

  /** Sockets and timers once all nodes have stopped */
  left: { sockets: number, timers: number }
}

export interface FleetResult {
  name: string
  nodes: number
  processes: Process[]

  /** What has failed, what explains it: a stop of one of the two, or a hang-up, and the connections between the two that ended then */
  failures: Array<Failure & { cause?: string, overs: Over[] }>
  dials: Record<string, { streams: number, bytes: number }>

  /** What would have ended a process */
  uncaught: Array<{ stack: StackName, error: string }>

  /** Of all lines, both ways, and bytes of resident memory of the peers in Go, by minute */
  lines: Array<{ minute: number, packets: number, dropped: number, late: number[], goRss: number }>
  restarts: number

  /** ms */
  longestStop: number
}

export class Fleet {
  readonly result: FleetResult
  readonly #signal: AbortSignal
  readonly #workers: WorkerGroup = new Set()
  readonly #asked: Array<{ worker: Worker<SoakTasks>, process: Process }> = []
  readonly #programs = new Map<string, Program>()
  readonly #members: Member[] = []
  readonly #peers = new Map<string, Peer>()
  readonly #downs: Array<{ name: string, from: number, to: number }> = []
  readonly #hangUps: Ended[] = []
  readonly #overs: Over[] = []
  readonly #failures: Failure[] = []

  constructor (name: string, signal: AbortSignal) {
    this.#signal = signal
    this.result = { name, nodes: 0, processes: [], failures: [], uncaught: [], dials: {}, lines: [], restarts: 0, longestStop: 0 }
  }

  /**
   * @param minutes - under load
   * @param perProcess - how many nodes
   * @param onSample - is called each minute, and six times at least
   */
  async run (minutes: number, perProcess: number, onSample: (minute: number, result: FleetResult) => void): Promise<FleetResult> {
    const { made: hosts, keeper, close } = await startKeeper<MakeStar, StarTasks>(scriptPath(import.meta.url, 'keeper'), LINES)
    const over = new AbortController()
    const signal = AbortSignal.any([this.#signal, over.signal])
    const untilOver = async (part: Promise<void>): Promise<void> => part.finally(() => { over.abort() }).catch(err => {
      if (this.#signal.aborted || err.name !== 'AbortError') {
        throw err
      }
    })

    try {
      await this.#start(hosts, perProcess)
      await Promise.all([
        this.#samples(minutes, onSample, keeper, signal),
        this.#churn(signal),
        this.#dialFromGo(hosts[0].namespace, signal)
      ].map(untilOver))
      await this.#stop()

      return this.result
    } finally {
      await endWorkers(this.#workers)
      await Promise.all([...this.#programs.values()].map(async program => program.end()))
      await close()
    }
  }

  async #start (hosts: Array<{ namespace: string, host: string }>, perProcess: number): Promise<void> {
    for (const [line, { namespace, host }] of hosts.entries()) {
      const under = ['ip', 'netns', 'exec', namespace]

      for (const [i, stack] of FLEETS[this.result.name].entries()) {
        const name = `${stack} ${'ABC'[line]}${i}`
        const process: Process = { name, stack, samples: [], left: { sockets: NaN, timers: NaN } }
        const worker = await startWorker<SoakTasks>({
          script: path.resolve(import.meta.dirname, '../ecosystem/programs/soak.ts'),
          args: [stack === 'ours' ? 'decorated' : 'official', host],
          name: `${this.result.name}: ${name}`,
          execArgv: ['--expose-gc'],
          under,
          group: this.#workers,
          onTold: (told: Told) => {
            if ('failure' in told) {
              this.#failures.push(told.failure)
            } else if ('uncaught' in told) {
              this.result.uncaught.push({ stack, error: told.uncaught })
            } else if ('over' in told) {
              this.#overs.push(told.over)
            } else {
              this.#hangUps.push(told.hungUp)
            }
          }
        })

        this.#asked.push({ worker, process })
        this.result.processes.push(process)
        this.#members.push(...Array.from({ length: perProcess }, (_, n): Member => ({
          name: `${name} ${n}`,
          stack,
          start: async () => worker.ask('startNode', `${name} ${n}`, 4_001 + i * 1_000 + n),
          stop: async () => worker.ask('stopNode', `${name} ${n}`)
        })))
      }
    }

    for (let i = 0; i < GO_PEERS; i++) {
      const { namespace, host } = hosts[i % hosts.length]
      const name = `go ${i}`

      this.#members.push({
        name,
        stack: 'go',
        start: async () => {
          const program = runProgram(['ip', 'netns', 'exec', namespace, binaryOf('go'), 'listen', '--host', host, '--port', `${3_001 + i}`])
          this.#programs.set(name, program)

          return (await program.nextLine(DIAL.timeout)).multiaddr
        },
        stop: async () => {
          this.#programs.get(name)?.kill()
          await this.#programs.get(name)?.ended
          this.#programs.delete(name)
        }
      })
    }

    this.result.nodes = this.#members.length

    for (const { name, stack, start } of this.#members) {
      this.#signal.throwIfAborted()
      this.#peers.set(name, { name, stack, address: await start() })
    }

    await this.#know()
    await Promise.all(this.#asked.map(async ({ worker }) => worker.ask('load', { query: RATES.query * perProcess, block: RATES.block * perProcess, gossip: RATES.gossip * perProcess })))
  }

  async #know (): Promise<void> {
    await Promise.all(this.#asked.map(async ({ worker }) => worker.ask('know', [...this.#peers.values()])))
  }

  async #samples (minutes: number, onSample: (minute: number, result: FleetResult) => void, keeper: Pick<Worker<StarTasks>, 'ask'>, signal: AbortSignal): Promise<void> {
    const start = performance.now()
    const step = Math.min(1, minutes / 6)

    for (let minute = step; minute <= minutes + step / 2; minute += step) {
      await wait(Math.max(0, start + minute * 60_000 - performance.now()), undefined, { signal })
      this.result.lines.push({ minute, ...await keeper.ask('lines'), packets: this.#packets(), goRss: sum([...this.#programs.values()].map(({ pid }) => residentMemory(pid))) })

      for (const { worker, process } of this.#asked) {
        process.samples.push({ minute, ...await worker.ask('sample') })
      }

      this.#judge()
      onSample(minute, this.result)
    }
  }

  /** Two processes are in each namespace */
  #packets (): number {
    return sum(this.#asked.filter((_, i) => i % 2 === 0).map(({ worker }) => {
      const [fields] = readFileSync(`/proc/${worker.pid}/net/dev`, 'utf8').split('\n').filter(line => line.trim().startsWith('ft')).map(line => line.split(':')[1].trim().split(/\s+/))

      return Number(fields[1]) + Number(fields[9])
    }))
  }

  async #churn (signal: AbortSignal): Promise<void> {
    while (true) {
      const began = performance.now()
      const { name, stack, start, stop } = this.#members[Math.floor(Math.random() * this.#members.length)]
      const down = { name, from: Date.now(), to: Infinity }

      this.#downs.push(down)
      await stop()
      this.result.longestStop = Math.max(this.result.longestStop, performance.now() - began)
      await wait(DOWNTIME, undefined, { signal })
      this.#peers.set(name, { name, stack, address: await start() })
      down.to = Date.now()
      this.result.restarts++
      // a peer in Go has another id each time
      await this.#know()
      await wait(Math.max(0, began + 3 * CHURN / this.#members.length - performance.now()), undefined, { signal })
    }
  }

  async #dialFromGo (namespace: string, signal: AbortSignal): Promise<void> {
    const program = runProgram(['ip', 'netns', 'exec', namespace, binaryOf('go'), 'dial', '-', '--bytes', `${DIAL.bytes}`, '--timeout-ms', `${DIAL.timeout}`])
    const targets = this.#members.filter(({ stack }) => stack !== 'go')
    this.#programs.set('dialer', program)

    while (true) {
      await wait(DIAL.interval, undefined, { signal })
      const { name, stack } = targets[Math.floor(Math.random() * targets.length)]
      const pair = `go > ${stack}`
      const began = Date.now()

      program.write(this.#peers.get(name)?.address ?? '')
      const { ok, error } = await program.nextLine(2 * DIAL.timeout)

      if (ok === true) {
        const done = this.result.dials[`dial ${pair}`] ??= { streams: 0, bytes: 0 }
        done.streams++
        done.bytes += DIAL.bytes
      } else {
        this.#failures.push({ kind: 'dial', pair, from: 'dialer', to: name, began, ended: Date.now(), error, lost: /that differ$/.test(error) ? DIAL.bytes : 0 })
      }
    }
  }

  /** What is left when all nodes are gone, is left for good */
  async #stop (): Promise<void> {
    this.#members.forEach(({ name }) => { this.#downs.push({ name, from: Date.now(), to: Infinity }) })
    await Promise.all(this.#members.map(async ({ stop }) => stop()))
    const deadline = performance.now() + LINGER

    for (const { worker, process } of this.#asked) {
      do {
        await wait(1_000, undefined, { signal: this.#signal })
        const { resources } = await worker.ask('sample')
        process.left = { sockets: resources.TCPSocketWrap ?? 0, timers: resources.Timeout ?? 0 }
      } while ((process.left.sockets > 0 || process.left.timers > OWN_TIMERS) && performance.now() < deadline)
    }

    this.#judge()
  }

  #judge (): void {
    const meets = (one: Ended, { from, to }: { from: number, to: number }): boolean => from <= one.ended && to + GRACE >= one.began
    const concerns = ({ from, to }: { from: string, to: string }, name: string): boolean => from === name || to === name

    this.result.failures = this.#failures.map(failure => {
      const down = this.#downs.find(down => concerns(failure, down.name) && meets(failure, down))
      const hasHungUp = this.#hangUps.some(({ from, to, began, ended }) => concerns(failure, from) && concerns(failure, to) && meets(failure, { from: began, to: ended }))
      const overs = this.#overs.filter(over => concerns(failure, over.from) && concerns(failure, over.to) && meets(failure, { from: over.at, to: over.at }))

      return { ...failure, overs, cause: down == null ? (hasHungUp ? 'a hang-up' : undefined) : `${down.name} was stopped` }
    })
  }
}

/** Streams that ended well and bytes, by kind and pair: `query ours > go` */
export function doneOf ({ processes, dials }: FleetResult): Array<[name: string, kind: Kind, streams: number, bytes: number]> {
  const all: Record<string, { streams: number, bytes: number }> = { ...dials }

  for (const [name, { streams, bytes }] of processes.flatMap(({ samples }) => Object.entries(samples.at(-1)?.done ?? {}))) {
    all[name] = { streams: (all[name]?.streams ?? 0) + streams, bytes: (all[name]?.bytes ?? 0) + bytes }
  }

  return Object.entries(all).map(([name, { streams, bytes }]) => [name, name.split(' ')[0] as Kind, streams, bytes])
}

/** In bytes; 0 if it has ended */
function residentMemory (pid?: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1_024
  } catch {
    return 0
  }
}

/** ms of the processor that a process and all that it has started and that still runs have used. Only on Linux */
export function processorTime (pid: number): number {
  try {
    const [utime, stime] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13).map(Number)
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(text => text !== '').map(Number)

    return (utime + stime) * 10 + sum(children.map(processorTime))
  } catch {
    return 0
  }
}
