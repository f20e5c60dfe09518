import { countMachineSegments, countSegments, segmentsBetween } from './segments.ts'
import type { Pair } from './pair.ts'
import type { Row } from './rows/row.ts'
import type { Measurements } from '../../test/lab/measure/measurements.ts'

/** Lets a pair that is warm do so many operations, so many times. */
export async function timeSlice (pair: Pair, row: Row, count: number, times: number): Promise<Measurements> {
  const ends = [pair.dialer, pair.listener]
  const operations = count * times

  const segments = await segmentCounter(pair, row)
  await Promise.all(ends.map(async end => end.ask('costStart')))
  const milliseconds = await pair.dialer.ask('run', count, times)
  const costs = await Promise.all(ends.map(async end => end.ask('costEnd')))
  const sent = await segments()

  const sum = (values: number[]): number => values.reduce((sum, value) => sum + value, 0)
  const user = sum(costs.map(cost => cost.user)) / operations
  const system = sum(costs.map(cost => cost.system)) / operations
  const measurements: Measurements = [
    { metric: 'time', unit: 'us/op', value: milliseconds * 1_000 / operations },
    { metric: 'cpu', unit: 'us/op', value: user + system },
    { metric: 'cpu user', unit: 'us/op', value: user },
    { metric: 'cpu system', unit: 'us/op', value: system }
  ]

  if (sent != null && row.countable !== false) {
    measurements.push({ metric: 'segments', unit: '/op', value: sent / operations })
  }

  return measurements
}

/**
 * Of all slices since this was asked last: how long operations took, and how late
 * the event loop of the end was where it was later.
 */
export async function percentilesOf ({ dialer, listener }: Pair): Promise<Measurements> {
  const { p50, p90, p99, max } = await dialer.ask('latency')
  const delays = await Promise.all([dialer, listener].map(async end => end.ask('loopDelay')))

  return [
    { metric: 'p50', unit: 'us', value: p50 },
    { metric: 'p90', unit: 'us', value: p90 },
    { metric: 'p99', unit: 'us', value: p99 },
    { metric: 'max', unit: 'us', value: max },
    { metric: 'loop delay p99', unit: 'ms', value: Math.max(...delays.map(({ p99 }) => p99)) }
  ]
}

/**
 * Where connections come and go, the whole machine's count has to do, which
 * knows SYN, ACK and FIN too.
 *
 * @returns how many segments were sent since, if that can be known
 */
async function segmentCounter ({ port }: Pair, row: Row): Promise<() => Promise<number | undefined>> {
  if (!row.keepsConnection) {
    const before = await countMachineSegments()

    return async () => {
      const after = await countMachineSegments()

      return before == null || after == null ? undefined : after - before
    }
  }

  try {
    const before = await countSegments(port)

    return async () => segmentsBetween(before, await countSegments(port))
  } catch {
    return async () => undefined
  }
}
