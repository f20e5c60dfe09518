import { performance } from 'node:perf_hooks'
import { keepOnOwnCore } from '../run/own-core.ts'
import { startWorker } from '../run/worker.ts'
import { scriptPath } from '../script-path.ts'
import type { ScaleTasks } from './worker.ts'
import type { Contender } from '../contenders/contender.ts'
import type { End } from '../run/own-core.ts'
import type { Worker } from '../run/worker.ts'

export const ENDS: End[] = ['dialler', 'listener']

/**
 * The processes of both ends of many connections
 */
export type Ends = Record<End, Worker<ScaleTasks>>

/**
 * What something cost
 */
export interface Took {
  milliseconds: number

  /** CPU time of each end, in microseconds */
  cpu: Record<End, number>
}

/**
 * Each is dialled on its own: ephemeral ports are per address, and libp2p joins
 * dials of one address.
 */
const HOSTS = Array.from({ length: 16 }, (_, index) => `127.0.0.${index + 1}`)

/**
 * How long to wait for both ends to agree on how many connections there are, in ms
 */
const SETTLE_TIMEOUT = 60_000

export async function withEnds<T> (contender: Contender, use: (ends: Ends, addresses: string[]) => Promise<T>): Promise<T> {
  const start = async (end: End): Promise<Worker<ScaleTasks>> => startWorker<ScaleTasks>({
    script: scriptPath(import.meta.url, 'worker'),
    args: [contender.level, contender.name],
    name: `${contender.name}, ${contender.level} level, ${end}`,
    execArgv: ['--expose-gc']
  })
  const [dialler, listener] = await Promise.all([start('dialler'), start('listener')])
  const ends = { dialler, listener }

  try {
    await Promise.all(ENDS.map(async end => keepOnOwnCore(end, ends[end].pid)))

    return await use(ends, await listener.ask('listen', HOSTS))
  } finally {
    await each(ends, async end => end.end())
  }
}

export async function each<T> (ends: Ends, use: (end: Worker<ScaleTasks>) => Promise<T>): Promise<Record<End, T>> {
  const [dialler, listener] = await Promise.all([use(ends.dialler), use(ends.listener)])

  return { dialler, listener }
}

/**
 * Dials until there are so many connections, and waits until both ends have them.
 * The time is that of the dials.
 */
export async function openAll (ends: Ends, addresses: string[], count: number): Promise<Took> {
  await each(ends, async end => end.ask('costStart'))
  const milliseconds = await ends.dialler.ask('dial', addresses, count)
  await unlessItTakesTooLong(ends, count, each(ends, async end => end.ask('reached', count)))
  const { dialler, listener } = await each(ends, async end => end.ask('costEnd'))

  return { milliseconds, cpu: { dialler: dialler.user + dialler.system, listener: listener.user + listener.system } }
}

/**
 * Closes all connections at the dialler. The time is over when both ends have been
 * told that each of theirs is closed.
 */
export async function closeAll (ends: Ends): Promise<Took> {
  await each(ends, async end => end.ask('watchClosing'))
  // `costStart` would count the event loop's delay, which is that of dialling
  const before = await each(ends, async end => end.ask('cpuTime'))
  const started = performance.now()
  await ends.dialler.ask('closeAll')
  await unlessItTakesTooLong(ends, 0, each(ends, async end => end.ask('allClosed')))
  const milliseconds = performance.now() - started
  const after = await each(ends, async end => end.ask('cpuTime'))
  await unlessItTakesTooLong(ends, 0, each(ends, async end => end.ask('reached', 0)))

  return { milliseconds, cpu: { dialler: after.dialler - before.dialler, listener: after.listener - before.listener } }
}

/**
 * @throws {Error} if the ends do not come to have that many connections
 */
async function unlessItTakesTooLong (ends: Ends, count: number, settled: Promise<unknown>): Promise<void> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    each(ends, async end => end.ask('connections')).then(({ dialler, listener }) => {
      timeout.reject(new Error(`Not ${count} connections after ${SETTLE_TIMEOUT} ms: ${dialler} at the dialler, ${listener} at the listener`))
    }, timeout.reject)
  }, SETTLE_TIMEOUT)

  try {
    await Promise.race([settled, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
