/* eslint-disable no-console */
import { buildPeer } from '../contenders/build.ts'
import { runProgram } from '../contenders/program.ts'
import { environment } from '../report/environment.ts'
import { seededRandom, shuffled } from '../run/random.ts'
import { startWorker, withWorkers } from '../run/worker.ts'
import { scriptPath } from '../script-path.ts'
import { median } from '../statistics.ts'
import type { JsPeer, PerfTasks, Sample } from './worker.ts'
import type { PeerName } from '../contenders/build.ts'
import type { Environment } from '../report/environment.ts'

/** What listens: the dialler's own kind, or a program in another language */
export type Listener = 'itself' | 'official' | PeerName

export interface Row {
  dialler: JsPeer
  listener: Listener
}

export interface RowResult extends Row {
  up: Sample[]
  down: Sample[]

  /** The median of each round, in ms */
  latency: number[]
}

export interface PerfReport {
  environment: Environment
  bytes: number
  rounds: number
  seed: number
  rows: RowResult[]
}

export interface PerfInit {
  diallers: JsPeer[]
  listeners: Listener[]
  bytes: number
  rounds: number
  seed: number
  command: string
}

const LATENCIES = 200

/** Every row once a round, in another order each time, in new processes each time */
export async function runPerfSuite ({ diallers, listeners, bytes, rounds, seed, command }: PerfInit): Promise<PerfReport> {
  const random = seededRandom(seed)
  const rows: RowResult[] = listeners.flatMap(listener => diallers
    .filter(dialler => listener !== 'official' || dialler !== 'official')
    .map(dialler => ({ dialler, listener, up: [], down: [], latency: [] })))

  await withWorkers(async () => {
    for (let round = 0; round < rounds; round++) {
      for (const row of shuffled(rows, random)) {
        await measure(row, bytes)
        console.error('%d/%d %s to %s: up %s ms, down %s ms', round + 1, rounds, row.dialler, row.listener, row.up.at(-1)?.ms.toFixed(0), row.down.at(-1)?.ms.toFixed(0))
      }
    }
  })

  return { environment: environment(command), bytes, rounds, seed, rows }
}

async function measure (row: RowResult, bytes: number): Promise<void> {
  const script = scriptPath(import.meta.url, 'worker')
  const dialler = await startWorker<PerfTasks>({ script, name: row.dialler })
  const listener = await listen(row, script)

  try {
    row.up.push(await dialler.ask('perf', row.dialler, listener.address, bytes, 0))
    row.down.push(await dialler.ask('perf', row.dialler, listener.address, 0, bytes))
    row.latency.push(median(await dialler.ask('latency', row.dialler, listener.address, LATENCIES)))
    await dialler.ask('stop')
  } finally {
    await dialler.end()
    await listener.end()
  }
}

async function listen ({ dialler, listener }: Row, script: string): Promise<{ address: string, end(): Promise<void> }> {
  if (listener === 'go' || listener === 'rust') {
    const built = await buildPeer(listener, () => { console.error('building the %s peer', listener) })

    if (built.status === 'missing-toolchain') {
      throw new Error(`there is no working ${built.toolchain} on this machine`)
    }

    const program = runProgram([built.binary, 'listen'])
    const { multiaddr } = await program.nextLine()

    return { address: multiaddr, end: async () => program.end() }
  }

  const worker = await startWorker<PerfTasks>({ script, name: `${listener} listener` })

  return { address: await worker.ask('listen', listener === 'itself' ? dialler : listener), end: async () => worker.end() }
}
