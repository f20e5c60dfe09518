import { errorOfMedian } from '../../test/lab/statistics.ts'
import { samplesOf } from '../series.ts'
import type { Row } from './rows/row.ts'
import type { Contender, Level } from '../../test/lab/peers/contender.ts'
import type { Series } from '../series.ts'

/** A row at one level, and who is measured there */
export interface Field {
  row: Row
  level: Level
  rivals: Contender[]
}

/** @throws {Error} where there is nothing to measure */
export function fieldsOf (rows: Row[], contenders: Contender[]): Field[] {
  const fields = rows
    .flatMap(row => row.levels.map(level => ({ row, level, rivals: contenders.filter(contender => contender.level === level) })))
    .filter(({ rivals }) => rivals.length > 0)

  if (fields.length === 0) {
    throw new Error(`Of ${rows.map(({ name, levels }) => `${name} (${levels.join(' and ')} level)`).join(', ')} nothing can be measured with the chosen rivals and levels`)
  }

  return fields
}

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
