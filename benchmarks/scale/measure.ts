import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { averages } from '../measurements.ts'
import { scriptPath } from '../script-path.ts'
import { median } from '../statistics.ts'
import { keepOnOwnCore } from '../workers/own-core.ts'
import { startWorker } from '../workers/start-worker.ts'
import type { DialTimes } from './dial-many.ts'
import type { ScaleTasks } from './worker.ts'
import type { Contender, Level } from '../contenders/contender.ts'
import type { Measurements } from '../measurements.ts'
import type { Cost } from '../workers/cost.ts'
import type { Memory } from '../workers/memory.ts'
import type { End } from '../workers/own-core.ts'
import type { OwnWorker } from '../workers/start-worker.ts'

/**
 * Each is dialled on its own: ephemeral ports are per address, and libp2p joins
 * dials of one address.
 */
const HOSTS = Array.from({ length: 16 }, (_, index) => `127.0.0.${index + 1}`)

/**
 * Connections that come and go before anything is measured, so that code is
 * compiled and what both ends make once is made.
 */
const WARM_UP = { connection: 1_000, stream: 200 }
const IDLE_WARM_UP = 100

/**
 * A few dials are over before they can be measured well, and a collection of garbage
 * falls between some of them only: they are repeated until there were so many, with
 * all closed in between, and the sample is the average. That of the event loop's delay
 * is a percentile of all of them.
 */
const ENOUGH_DIALS = { connection: 5_000, stream: 200 }

/**
 * How often the ends are asked for nothing, to know what asking costs
 */
const ASKED = 15

const ENDS: End[] = ['dialler', 'listener']

/**
 * How long to wait for both ends to agree on how many connections there are, in ms
 */
const SETTLE_TIMEOUT = 60_000

/**
 * How long a dial or a connection may be held by what ended it, in ms
 */
const LINGER = 1_000

/**
 * How often it is told how long connections have been idle, in ms
 */
const IDLE_INTERVAL = 1_000

/**
 * Dials connections, lets them lie idle for `hold` ms, and closes them. Every second
 * `onIdle` is told for how many ms they have been idle.
 */
export async function measureConnections (contender: Contender, count: number, hold: number, onIdle: (milliseconds: number) => void): Promise<Measurements> {
  return [
    ...await withEnds(contender, async (ends, addresses) => measureCosts(ends, addresses, contender.level, count)),
    ...await withEnds(contender, async (ends, addresses) => measureIdle(ends, addresses, count, hold, onIdle))
  ]
}

async function withEnds (contender: Contender, measure: (ends: Ends, addresses: string[]) => Promise<Measurements>): Promise<Measurements> {
  const start = async (end: End): Promise<OwnWorker<ScaleTasks>> => startWorker<ScaleTasks>({
    script: scriptPath(import.meta.url, 'worker'),
    args: [contender.level, contender.name, end],
    execArgv: ['--expose-gc']
  })
  const [dialler, listener] = await Promise.all([start('dialler'), start('listener')])
  const ends = { dialler, listener }

  try {
    await Promise.all(ENDS.map(async end => keepOnOwnCore(end, ends[end].pid)))

    return await measure(ends, await listener.ask('listen', HOSTS))
  } finally {
    await each(ends, async end => end.end())
  }
}

/**
 * What it costs to dial and to close, without a collection of garbage: all code is
 * slow for a while after one.
 */
async function measureCosts (ends: Ends, addresses: string[], level: Level, count: number): Promise<Measurements> {
  await openAll(ends, addresses, WARM_UP[level])
  await closeAll(ends)

  const asking = await measureAsking(ends, addresses)
  await each(ends, async end => end.ask('loopDelay'))
  const repetitions: Measurements[] = []

  while (repetitions.length * count < ENOUGH_DIALS[level]) {
    repetitions.push(await measureOnce(ends, addresses, count, asking))
  }

  const delays = await each(ends, async end => end.ask('loopDelay'))

  return [
    ...averages(repetitions),
    ...ENDS.flatMap(end => [
      { metric: `loop delay p50 ${end}`, unit: 'ms', value: delays[end].p50 },
      { metric: `loop delay p99 ${end}`, unit: 'ms', value: delays[end].p99 }
    ])
  ]
}

/**
 * @returns microseconds of CPU time that it costs each end to be asked for no connection
 */
async function measureAsking (ends: Ends, addresses: string[]): Promise<Record<End, number>> {
  const times: Record<End, number[]> = { dialler: [], listener: [] }

  for (let i = 0; i < ASKED; i++) {
    const { costs } = await openAll(ends, addresses, 0)
    ENDS.forEach(end => times[end].push(cpuTime(costs[end])))
  }

  return { dialler: median(times.dialler), listener: median(times.listener) }
}

function cpuTime ({ user, system }: Cost): number {
  return user + system
}

async function measureOnce (ends: Ends, addresses: string[], count: number, asking: Record<End, number>): Promise<Measurements> {
  const { times, costs } = await openAll(ends, addresses, count)
  const closing = await closeAll(ends)

  const cpu = (end: End): number => Math.max(0, cpuTime(costs[end]) - asking[end]) / count

  return [
    { metric: 'dial rate', unit: '/s', value: count / times.milliseconds * 1_000 },
    { metric: 'dial p50', unit: 'ms', value: times.p50 },
    { metric: 'dial p99', unit: 'ms', value: times.p99 },
    { metric: 'cpu', unit: 'us/dial', value: cpu('dialler') + cpu('listener') },
    { metric: 'close time', unit: 'ms', value: closing },
    { metric: 'close time each', unit: 'us', value: closing * 1_000 / count },
    ...ENDS.map(end => ({ metric: `cpu ${end}`, unit: 'us/dial', value: cpu(end) }))
  ]
}

/**
 * What connections hold, in processes whose memory nothing larger has grown yet.
 */
async function measureIdle (ends: Ends, addresses: string[], count: number, hold: number, onIdle: (milliseconds: number) => void): Promise<Measurements> {
  await openAll(ends, addresses, IDLE_WARM_UP)
  await closeAll(ends)
  await wait(Math.min(hold, LINGER))
  const before = await inUse(ends)
  await openAll(ends, addresses, count)
  await lieIdle(hold, onIdle)
  const after = await inUse(ends)
  const left = await each(ends, async end => end.ask('connections'))
  await closeAll(ends)

  return [
    { metric: 'dropped', unit: 'connections', value: count - Math.min(left.dialler, left.listener) },
    ...ENDS.flatMap(end => (['heap', 'external', 'rss'] as const).map(memory => (
      { metric: `${memory} ${end}`, unit: 'B/connection', value: (after[end][memory] - before[end][memory]) / count }
    )))
  ]
}

async function lieIdle (hold: number, onIdle: (milliseconds: number) => void): Promise<void> {
  const started = performance.now()
  const timer = setInterval(() => { onIdle(performance.now() - started) }, IDLE_INTERVAL)

  try {
    await wait(hold)
  } finally {
    clearInterval(timer)
  }
}

interface Opened {
  times: DialTimes
  costs: Record<End, Cost>
}

type Ends = Record<End, OwnWorker<ScaleTasks>>

async function each<T> (ends: Ends, use: (end: OwnWorker<ScaleTasks>) => Promise<T>): Promise<Record<End, T>> {
  const [dialler, listener] = await Promise.all([use(ends.dialler), use(ends.listener)])

  return { dialler, listener }
}

async function openAll (ends: Ends, addresses: string[], count: number): Promise<Opened> {
  await each(ends, async end => end.ask('costStart'))
  const times = await ends.dialler.ask('dial', addresses, count)
  await settled(ends, count)
  const costs = await each(ends, async end => end.ask('costEnd'))

  return { times, costs }
}

async function inUse (ends: Ends): Promise<Record<End, Memory>> {
  return each(ends, async end => end.ask('memoryInUse'))
}

/**
 * @throws {Error} if the ends do not come to have that many connections
 */
async function settled (ends: Ends, count: number): Promise<void> {
  const timeout = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    each(ends, async end => end.ask('connections')).then(({ dialler, listener }) => {
      timeout.reject(new Error(`Not ${count} connections after ${SETTLE_TIMEOUT} ms: ${dialler} at the dialler, ${listener} at the listener`))
    }, timeout.reject)
  }, SETTLE_TIMEOUT)

  try {
    await Promise.race([
      each(ends, async end => end.ask('reached', count)),
      timeout.promise
    ])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * @returns how long it took until both ends had closed all, in ms
 */
async function closeAll (ends: Ends): Promise<number> {
  const started = performance.now()
  await ends.dialler.ask('closeAll')
  await settled(ends, 0)

  return performance.now() - started
}
