import { performance } from 'node:perf_hooks'
import { each, endBoth, startEnds } from '../../test/lab/process/ends.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import type { ScaleTasks } from './worker.ts'
import type { Contender } from '../../test/lab/peers/contender.ts'
import type { Ends } from '../../test/lab/process/ends.ts'
import type { End } from '../../test/lab/process/own-core.ts'

export type ScaleEnds = Ends<ScaleTasks>

export interface Took {
  milliseconds: number

  /** CPU time of each end, in microseconds */
  cpu: Record<End, number>
}

/**
 * Each is dialed on its own: ephemeral ports are per address, and libp2p joins
 * dials of one address.
 */
const HOSTS = Array.from({ length: 16 }, (_, index) => `127.0.0.${index + 1}`)

/** How long to wait for both ends to agree on how many connections there are, in ms */
const SETTLE_TIMEOUT = 60_000

export async function withEnds<T> ({ level, name }: Contender, use: (ends: ScaleEnds, addresses: string[]) => Promise<T>): Promise<T> {
  const ends = await startEnds<ScaleTasks>(end => ({
    script: scriptPath(import.meta.url, 'worker'),
    args: [level, name],
    name: `${name}, ${level} level, ${end}`,
    execArgv: ['--expose-gc']
  }))

  try {
    return await use(ends, await ends.listener.ask('listen', HOSTS))
  } finally {
    await endBoth(ends)
  }
}

/**
 * Dials until there are so many connections, and waits until both ends have them.
 * The time is that of the dials.
 */
export async function openAll (ends: ScaleEnds, addresses: string[], count: number): Promise<Took> {
  await each(ends, async end => end.ask('costStart', true))
  const milliseconds = await ends.dialer.ask('dial', addresses, count)
  await unlessItTakesTooLong(ends, count, each(ends, async end => end.ask('reached', count)))
  const { dialer, listener } = await each(ends, async end => end.ask('costEnd'))

  return { milliseconds, cpu: { dialer: dialer.user + dialer.system, listener: listener.user + listener.system } }
}

/**
 * Closes all connections at the dialer. The time is over when both ends have been
 * told that each of theirs is closed.
 */
export async function closeAll (ends: ScaleEnds): Promise<Took> {
  await each(ends, async end => end.ask('watchClosing'))
  await each(ends, async end => end.ask('costStart'))
  const started = performance.now()
  await ends.dialer.ask('closeAll')
  await unlessItTakesTooLong(ends, 0, each(ends, async end => end.ask('allClosed')))
  const milliseconds = performance.now() - started
  const { dialer, listener } = await each(ends, async end => end.ask('costEnd'))
  await unlessItTakesTooLong(ends, 0, each(ends, async end => end.ask('reached', 0)))

  return { milliseconds, cpu: { dialer: dialer.user + dialer.system, listener: listener.user + listener.system } }
}

/** @throws {Error} if the ends do not come to have that many connections */
async function unlessItTakesTooLong (ends: ScaleEnds, count: number, settled: Promise<unknown>): Promise<void> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    each(ends, async end => end.ask('connections')).then(({ dialer, listener }) => {
      timeout.reject(new Error(`Not ${count} connections after ${SETTLE_TIMEOUT} ms: ${dialer} at the dialer, ${listener} at the listener`))
    }, timeout.reject)
  }, SETTLE_TIMEOUT)

  try {
    await Promise.race([settled, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
