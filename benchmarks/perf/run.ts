import { binaryOf } from '../../test/lab/peers/build.ts'
import { contenderNamed } from '../../test/lab/peers/registry.ts'
import { runProgram } from '../../test/lab/process/program.ts'
import { progress } from '../../test/lab/process/progress.ts'
import { seededRandom, shuffled } from '../../test/lab/process/random.ts'
import { startWorker, withWorkers } from '../../test/lab/process/worker.ts'
import { environment } from '../../test/lab/report/environment.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import { median } from '../../test/lab/statistics.ts'
import type { JsPeer, PerfTasks, Sample } from './worker.ts'
import type { PeerName } from '../../test/lab/peers/build.ts'
import type { Worker } from '../../test/lab/process/worker.ts'
import type { Environment } from '../../test/lab/report/environment.ts'

/** What listens: the dialer's own kind, or a program in another language */
export type Listener = 'itself' | 'official' | PeerName

/** Programs in other languages dial their own kind only */
export type Dialer = JsPeer | PeerName

export interface RowResult {
  dialer: Dialer
  listener: Listener
  up: Sample[]
  down: Sample[]

  /** The median of each round, in ms */
  latency: number[]
}

export interface PerfInit {
  dialers: Dialer[]
  listeners: Listener[]
  bytes: number
  rounds: number
  seed: number
  command: string
}

export interface PerfReport extends Environment, Pick<PerfInit, 'bytes' | 'rounds' | 'seed'> {
  benchmark: 'perf'
  rows: RowResult[]
}

const LATENCIES = 200

/** Every row once a round, in another order each time, in new processes each time */
export async function runPerfSuite ({ dialers, listeners, bytes, rounds, seed, command }: PerfInit): Promise<PerfReport> {
  const random = seededRandom(seed)
  const rows: RowResult[] = listeners.flatMap(listener => dialers
    .filter(dialer => listener === 'itself' || (!isNative(dialer) && dialer !== listener))
    .map(dialer => ({ dialer, listener, up: [], down: [], latency: [] })))
  const shown = progress(rounds * rows.length)

  try {
    await withWorkers(async () => {
      for (let round = 1; round <= rounds; round++) {
        for (const row of shuffled(rows, random)) {
          shown.step(`round ${round} of ${rounds}, ${row.dialer} to ${row.listener}`)
          await measure(row, bytes, message => { shown.note(message) })
        }
      }
    })
  } finally {
    shown.stop()
  }

  return { benchmark: 'perf', ...environment(command), bytes, rounds, seed, rows }
}

async function measure (row: RowResult, bytes: number, onProgress: (message: string) => void): Promise<void> {
  const { address, end } = await listen(row, onProgress)

  try {
    const { up, down, latencies } = isNative(row.dialer) ? await dialNative(row.dialer, address, bytes) : await dialJs(row.dialer, address, bytes)

    row.up.push(up)
    row.down.push(down)
    row.latency.push(median(latencies))
  } finally {
    await end()
  }
}

interface Measured {
  up: Sample
  down: Sample

  /** In ms */
  latencies: number[]
}

async function dialJs (peer: JsPeer, address: string, bytes: number): Promise<Measured> {
  const dialer = await start(peer, 'dialer')

  try {
    const measured = {
      up: await dialer.ask('perf', address, bytes, 0),
      down: await dialer.ask('perf', address, 0, bytes),
      latencies: await dialer.ask('latency', address, LATENCIES)
    }

    await dialer.ask('stop')

    return measured
  } finally {
    await dialer.end()
  }
}

async function dialNative (peer: PeerName, address: string, bytes: number): Promise<Measured> {
  const program = runProgram([binaryOf(peer), 'perf', address, '--bytes', `${bytes}`, '--count', `${LATENCIES}`])

  try {
    return await program.nextLine()
  } finally {
    await program.end()
  }
}

async function listen ({ dialer, listener }: RowResult, onProgress: (message: string) => void): Promise<{ address: string, end(): Promise<void> }> {
  const kind = listener === 'itself' ? dialer : listener

  if (isNative(kind)) {
    const contender = contenderNamed('stream', kind)
    await contender.prepare?.(onProgress)
    const program = await contender.open()
    const [address] = await program.listen(['127.0.0.1'])

    return { address, end: async () => program.close() }
  }

  const worker = await start(kind, 'listener')

  return { address: await worker.ask('listen'), end: async () => worker.end() }
}

async function start (peer: JsPeer, end: string): Promise<Worker<PerfTasks>> {
  return startWorker<PerfTasks>({ script: scriptPath(import.meta.url, 'worker'), args: [peer], name: `${peer} ${end}` })
}

function isNative (kind: string): kind is PeerName {
  return kind === 'go' || kind === 'rust'
}
