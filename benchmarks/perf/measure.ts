import { binaryOf } from '../../test/lab/peers/build.ts'
import { contenderNamed } from '../../test/lab/peers/registry.ts'
import { runProgram } from '../../test/lab/process/program.ts'
import { startWorker } from '../../test/lab/process/worker.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import { median } from '../../test/lab/statistics.ts'
import type { JsPeer, PerfTasks, Sample } from './worker.ts'
import type { Measurements } from '../../test/lab/measure/measurements.ts'
import type { PeerName } from '../../test/lab/peers/build.ts'
import type { Worker } from '../../test/lab/process/worker.ts'

/** Programs in other languages dial their own kind only */
export type Dialer = JsPeer | PeerName

/** What listens: the dialer's own kind, or one kind for all */
export type Listener = 'itself' | 'official' | PeerName

const LATENCIES = 200

export function isNative (kind: string): kind is PeerName {
  return kind === 'go' || kind === 'rust'
}

/** One sample of a dialer and a listener, of two processes that are new */
export async function measurePerf (dialer: Dialer, listener: Listener, bytes: number): Promise<Measurements> {
  const { address, end } = await listen(listener === 'itself' ? dialer : listener)

  try {
    const { up, down, latencies } = isNative(dialer) ? await dialNative(dialer, address, bytes) : await dialJs(dialer, address, bytes)
    const rate = ({ ms }: Sample): number => bytes / 1_048_576 / ms * 1_000

    return [
      { metric: 'up', unit: 'ms', value: up.ms },
      { metric: 'up CPU', unit: 'ms', value: up.cpu },
      { metric: 'down', unit: 'ms', value: down.ms },
      { metric: 'down CPU', unit: 'ms', value: down.cpu },
      { metric: 'rate up', unit: 'MiB/s', value: rate(up) },
      { metric: 'rate down', unit: 'MiB/s', value: rate(down) },
      { metric: 'one byte', unit: 'ms', value: median(latencies) }
    ]
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

async function listen (kind: Dialer): Promise<{ address: string, end(): Promise<void> }> {
  if (isNative(kind)) {
    const program = await contenderNamed('stream', kind).open()
    const [address] = await program.listen(['127.0.0.1'])

    return { address, end: async () => program.close() }
  }

  const worker = await start(kind, 'listener')

  return { address: await worker.ask('listen'), end: async () => worker.end() }
}

async function start (peer: JsPeer, end: string): Promise<Worker<PerfTasks>> {
  return startWorker<PerfTasks>({ script: scriptPath(import.meta.url, 'worker'), args: [peer], name: `${peer} ${end}` })
}
