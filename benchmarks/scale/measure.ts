import { setTimeout as wait } from 'node:timers/promises'
import { ENDS, each, endBoth, startEnds } from '../../test/lab/process/ends.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import { average, median, sum } from '../../test/lab/statistics.ts'
import type { ScaleTasks } from './worker.ts'
import type { Measurements } from '../../test/lab/measure/measurements.ts'
import type { Memory } from '../../test/lab/measure/memory.ts'
import type { Contender, Level } from '../../test/lab/peers/contender.ts'
import type { Ends } from '../../test/lab/process/ends.ts'

/** Both ends, and the addresses of the listener */
interface Pair {
  ends: Ends<ScaleTasks>
  addresses: string[]
}

/** In ms, and microseconds of CPU time of both ends */
interface Took {
  milliseconds: number
  cpu: number
}

/** Each is dialed on its own: ephemeral ports are per address */
const HOSTS = Array.from({ length: 16 }, (_, index) => `127.0.0.${index + 1}`)

/**
 * What it costs to dial and to close so many connections, and what as many hold that lie
 * idle for `hold` ms, in processes of their own.
 */
export async function measureConnections (contender: Contender, count: number, hold: number, note: (message: string) => void): Promise<Measurements> {
  return [
    ...await withEnds(contender, async pair => costs(pair, contender.level, count)),
    ...await withEnds(contender, async pair => {
      note(`idle for ${hold} ms`)

      return idleness(pair, count, hold)
    })
  ]
}

async function withEnds ({ level, name }: Contender, use: (pair: Pair) => Promise<Measurements>): Promise<Measurements> {
  const ends = await startEnds<ScaleTasks>(end => ({
    script: scriptPath(import.meta.url, 'worker'),
    args: [level, name],
    name: `${name}, ${level} level, ${end}`,
    execArgv: ['--expose-gc']
  }))

  try {
    return await use({ ends, addresses: await ends.listener.ask('listen', HOSTS) })
  } finally {
    await endBoth(ends)
  }
}

/** Connections that come and go first, so that code is compiled and what both ends make once is made */
const WARM_UP = { connection: 1_000, stream: 200 }

/**
 * A few dials are over before they can be measured well, and a collection of garbage
 * falls between some of them only: they are repeated until there were so many, with
 * all closed in between, and the sample is of all of them together.
 */
const ENOUGH_DIALS = { connection: 5_000, stream: 200 }

/** How often the ends are asked for nothing, to know what asking costs */
const ASKED = 15

async function costs (pair: Pair, level: Level, count: number): Promise<Measurements> {
  await open(pair, WARM_UP[level])
  await close(pair)

  const asked = await repeat(ASKED, async () => openAndClose(pair, 0))
  await each(pair.ends, async end => end.ask('loopDelay'))

  const done = await repeat(Math.ceil(ENOUGH_DIALS[level] / count), async () => openAndClose(pair, count))
  const delays = Object.values(await each(pair.ends, async end => end.ask('loopDelay')))

  /** Of one connection, without what it takes to ask */
  const cost = (what: (once: OpenedAndClosed) => number): number => Math.max(0, average(done.map(what)) - median(asked.map(what))) / count

  return [
    { metric: 'dials', unit: '/s', value: 1_000 / cost(({ opened }) => opened.milliseconds) },
    { metric: 'CPU', unit: 'us/dial', value: cost(({ opened }) => opened.cpu) },
    { metric: 'loop p99', unit: 'ms', value: Math.max(...delays.map(({ p99 }) => p99)) },
    { metric: 'close', unit: 'us/connection', value: cost(({ closed }) => closed.milliseconds) * 1_000 },
    { metric: 'close CPU', unit: 'us/connection', value: cost(({ closed }) => closed.cpu) }
  ]
}

type OpenedAndClosed = Record<'opened' | 'closed', Took>

async function openAndClose (pair: Pair, count: number): Promise<OpenedAndClosed> {
  return { opened: await open(pair, count), closed: await close(pair) }
}

async function open ({ ends, addresses }: Pair, count: number): Promise<Took> {
  return timed(ends, count, true, async () => ends.dialer.ask('dial', addresses, count))
}

async function close ({ ends }: Pair): Promise<Took> {
  return timed(ends, 0, false, async () => ends.dialer.ask('closeAll'))
}

/** Until both ends have so many connections */
async function timed (ends: Pair['ends'], count: number, watchesLoop: boolean, run: () => Promise<void>): Promise<Took> {
  await each(ends, async end => end.ask('costStart', watchesLoop))
  const started = performance.now()
  await run()
  await each(ends, async end => end.ask('reached', count))
  const milliseconds = performance.now() - started

  return { milliseconds, cpu: sum(Object.values(await each(ends, async end => end.ask('costEnd'))).map(({ user, system }) => user + system)) }
}

async function repeat<T> (times: number, what: () => Promise<T>): Promise<T[]> {
  const results: T[] = []

  while (results.length < times) {
    results.push(await what())
  }

  return results
}

/** Connections that come and go before the idle ones, in processes whose memory nothing larger has grown yet */
const IDLE_WARM_UP = 100

/** How long a dial or a connection may be held by what ended it, in ms */
const LINGER = 1_000

async function idleness (pair: Pair, count: number, hold: number): Promise<Measurements> {
  const { ends } = pair
  const inUse = async (): Promise<Record<'dialer' | 'listener', Memory>> => each(ends, async end => end.ask('memoryInUse'))

  await openAndClose(pair, IDLE_WARM_UP)
  await wait(Math.min(hold, LINGER))
  const before = await inUse()
  await open(pair, count)
  await wait(hold)
  const after = await inUse()
  const left = await each(ends, async end => end.ask('connections'))
  const taken = (end: keyof typeof after, memory: keyof Memory): number => (after[end][memory] - before[end][memory]) / count

  return [
    { metric: 'dropped', unit: 'connections', value: count - Math.min(left.dialer, left.listener) },
    { metric: 'heap', unit: 'B/connection', value: sum(ENDS.map(end => taken(end, 'heap'))) },
    ...ENDS.flatMap(end => (['heap', 'external', 'rss'] as const).map(memory => ({ metric: `${memory} ${end}`, unit: 'B/connection', value: taken(end, memory) })))
  ]
}
