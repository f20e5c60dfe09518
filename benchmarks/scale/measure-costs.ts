import { ENDS, each } from '../../test/lab/process/ends.ts'
import { average, median } from '../../test/lab/statistics.ts'
import { closeAll, openAll } from './ends.ts'
import type { ScaleEnds, Took } from './ends.ts'
import type { Measurements } from '../../test/lab/measure/measurements.ts'
import type { Level } from '../../test/lab/peers/contender.ts'
import type { End } from '../../test/lab/process/own-core.ts'

/**
 * Connections that come and go before anything is measured, so that code is
 * compiled and what both ends make once is made
 */
const WARM_UP = { connection: 1_000, stream: 200 }

/**
 * A few dials are over before they can be measured well, and a collection of garbage
 * falls between some of them only: they are repeated until there were so many, with
 * all closed in between, and the sample is of all of them together.
 */
const ENOUGH_DIALS = { connection: 5_000, stream: 200 }

/** How often the ends are asked for nothing, to know what asking costs */
const ASKED = 15

/** What it costs to dial and to close so many connections */
export async function measureCosts (ends: ScaleEnds, addresses: string[], level: Level, count: number): Promise<Measurements> {
  await openAll(ends, addresses, WARM_UP[level])
  await closeAll(ends)

  const asked = await repeat(ASKED, async () => openAndClose(ends, addresses, 0))
  await ends.dialer.ask('dialTimes')
  await each(ends, async end => end.ask('loopDelay'))

  const done = await repeat(Math.ceil(ENOUGH_DIALS[level] / count), async () => openAndClose(ends, addresses, count))
  const { p50, p99 } = await ends.dialer.ask('dialTimes')
  const delays = await each(ends, async end => end.ask('loopDelay'))

  /** Of one connection, without what it takes to ask */
  const cost = (what: (once: OpenedAndClosed) => number): number => (
    Math.max(0, average(done.map(what)) - median(asked.map(what))) / count
  )
  const cpu = (of: keyof OpenedAndClosed, end: End): number => cost(once => once[of].cpu[end])
  const both = (of: keyof OpenedAndClosed): number => cpu(of, 'dialer') + cpu(of, 'listener')
  const closeTime = cost(({ closed }) => closed.milliseconds)

  return [
    { metric: 'dial rate', unit: '/s', value: count / average(done.map(({ opened }) => opened.milliseconds)) * 1_000 },
    { metric: 'dial p50', unit: 'ms', value: p50 },
    { metric: 'dial p99', unit: 'ms', value: p99 },
    { metric: 'cpu', unit: 'us/dial', value: both('opened') },
    { metric: 'close cpu', unit: 'us/connection', value: both('closed') },
    { metric: 'close time', unit: 'ms', value: closeTime * count },
    { metric: 'close time each', unit: 'us', value: closeTime * 1_000 },
    ...ENDS.flatMap(end => [
      { metric: `cpu ${end}`, unit: 'us/dial', value: cpu('opened', end) },
      { metric: `close cpu ${end}`, unit: 'us/connection', value: cpu('closed', end) },
      { metric: `loop delay p50 ${end}`, unit: 'ms', value: delays[end].p50 },
      { metric: `loop delay p99 ${end}`, unit: 'ms', value: delays[end].p99 }
    ])
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
