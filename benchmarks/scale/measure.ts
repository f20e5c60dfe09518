import { setTimeout as wait } from 'node:timers/promises'
import { ENDS, each } from '../../test/lab/process/ends.ts'
import { average, median, sum } from '../../test/lab/statistics.ts'
import { closeAll, openAll, withEnds } from './ends.ts'
import type { ScaleEnds, Took } from './ends.ts'
import type { Measurements } from '../../test/lab/measure/measurements.ts'
import type { Memory } from '../../test/lab/measure/memory.ts'
import type { Contender, Level } from '../../test/lab/peers/contender.ts'
import type { End } from '../../test/lab/process/own-core.ts'

/**
 * What it costs to dial and to close so many connections, and what as many hold that lie
 * idle for `hold` ms, in processes of their own.
 */
export async function measureConnections (contender: Contender, count: number, hold: number, note: (message: string) => void): Promise<Measurements> {
  return [
    ...await withEnds(contender, async (ends, addresses) => costs(ends, addresses, contender.level, count)),
    ...await withEnds(contender, async (ends, addresses) => idleness(ends, addresses, count, hold, note))
  ]
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

async function costs (ends: ScaleEnds, addresses: string[], level: Level, count: number): Promise<Measurements> {
  await openAll(ends, addresses, WARM_UP[level])
  await closeAll(ends)

  const asked = await repeat(ASKED, async () => openAndClose(ends, addresses, 0))
  await each(ends, async end => end.ask('loopDelay'))

  const done = await repeat(Math.ceil(ENOUGH_DIALS[level] / count), async () => openAndClose(ends, addresses, count))
  const delays = Object.values(await each(ends, async end => end.ask('loopDelay')))

  /** Of one connection, without what it takes to ask */
  const cost = (what: (once: OpenedAndClosed) => number): number => Math.max(0, average(done.map(what)) - median(asked.map(what))) / count
  const cpu = (of: keyof OpenedAndClosed): number => sum(ENDS.map(end => cost(once => once[of].cpu[end])))

  return [
    { metric: 'dials', unit: '/s', value: count / average(done.map(({ opened }) => opened.milliseconds)) * 1_000 },
    { metric: 'CPU', unit: 'us/dial', value: cpu('opened') },
    { metric: 'loop p99', unit: 'ms', value: Math.max(...delays.map(({ p99 }) => p99)) },
    { metric: 'close', unit: 'us/connection', value: cost(({ closed }) => closed.milliseconds) * 1_000 },
    { metric: 'close CPU', unit: 'us/connection', value: cpu('closed') }
  ]
}

interface OpenedAndClosed {
  opened: Took
  closed: Took
}

async function openAndClose (ends: ScaleEnds, addresses: string[], count: number): Promise<OpenedAndClosed> {
  return { opened: await openAll(ends, addresses, count), closed: await closeAll(ends) }
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

async function idleness (ends: ScaleEnds, addresses: string[], count: number, hold: number, note: (message: string) => void): Promise<Measurements> {
  await openAll(ends, addresses, IDLE_WARM_UP)
  await closeAll(ends)
  await wait(Math.min(hold, LINGER))
  const before = await inUse(ends)
  await openAll(ends, addresses, count)
  note(`idle for ${hold} ms`)
  await wait(hold)
  const after = await inUse(ends)
  const left = await each(ends, async end => end.ask('connections'))
  await closeAll(ends)

  const taken = (end: End, memory: keyof Memory): number => (after[end][memory] - before[end][memory]) / count

  return [
    { metric: 'dropped', unit: 'connections', value: count - Math.min(left.dialer, left.listener) },
    { metric: 'heap', unit: 'B/connection', value: sum(ENDS.map(end => taken(end, 'heap'))) },
    ...ENDS.flatMap(end => (['heap', 'external', 'rss'] as const).map(memory => ({ metric: `${memory} ${end}`, unit: 'B/connection', value: taken(end, memory) })))
  ]
}

async function inUse (ends: ScaleEnds): Promise<Record<End, Memory>> {
  return each(ends, async end => end.ask('memoryInUse'))
}
