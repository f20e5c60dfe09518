import { summarise } from '../../test/lab/statistics.ts'
import { samplesOf } from '../series-old.ts'
import type { ScaleReport } from './report.ts'
import type { Summary } from '../../test/lab/statistics.ts'

/** A number that a chart draws and a short table lists: of both ends */
export interface Quantity {
  title: string
  unit: string

  /** Those of both ends, round by round. */
  metrics: string[]

  /**
   * What to do with the two.
   *
   * @default sum
   */
  join?: 'sum' | 'max'

  /** @default 1 */
  divisor?: number
}

const KiB = 1_024

export const QUANTITIES: Quantity[] = [
  { title: 'dial rate', unit: 'dials/s', metrics: ['dial rate'] },
  { title: 'CPU', unit: 'us/dial', metrics: ['cpu dialer', 'cpu listener'] },
  { title: 'heap', unit: 'KiB/connection', metrics: ['heap dialer', 'heap listener'], divisor: KiB },
  { title: 'RSS', unit: 'KiB/connection', metrics: ['rss dialer', 'rss listener'], divisor: KiB },
  { title: 'event-loop delay', unit: 'ms, p99 while dialing', metrics: ['loop delay p99 dialer', 'loop delay p99 listener'], join: 'max' },
  { title: 'close time', unit: 'us/connection', metrics: ['close time each'] },
  { title: 'close CPU', unit: 'us/connection', metrics: ['close cpu dialer', 'close cpu listener'] }
]

/** Undefined where it was not measured. */
export function summaryOf (report: ScaleReport, { metrics, join = 'sum', divisor = 1 }: Quantity, of: { row: string, level: string, rival: string }): Summary | undefined {
  const ends = metrics.map(metric => samplesOf(report.samples, { ...of, metric }))

  if (ends.some(samples => samples.length === 0)) {
    return
  }

  return summarise(ends[0].map((_, round) => {
    const values = ends.map(samples => samples[round])

    return (join === 'max' ? Math.max(...values) : values.reduce((sum, value) => sum + value)) / divisor
  }))
}

/** The numbers of connections that were measured at a level. */
export function countsAt (report: ScaleReport, level: string): number[] {
  return report.counts.filter(count => report.samples.some(series => series.level === level && series.row === `${count}`))
}
