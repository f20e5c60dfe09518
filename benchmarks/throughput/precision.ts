import { samplesOf } from '../series.ts'
import { errorOfMedian } from '../statistics.ts'
import type { Field } from './fields.ts'
import type { Series } from '../series.ts'

/**
 * Whether the median of the ratio of every two rivals of a field has a standard
 * error of no more than `error`, as a part of it.
 */
export function isPrecise ({ row, level, rivals }: Field, series: Series[], error: number): boolean {
  const times = rivals.map(({ name }) => samplesOf(series, { row: row.name, level, rival: name, metric: 'time' }))

  return times.every((samples, index) => times.slice(index + 1).every(others => (
    errorOfMedian(samples.map((sample, round) => sample / others[round])) <= error
  )))
}
