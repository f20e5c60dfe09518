import type { SeriesReport } from '../series.ts'
import type { Row } from './rows/row.ts'

/**
 * All that is known of a throughput benchmark, as its JSON file holds it
 */
export interface ThroughputReport extends SeriesReport {
  benchmark: 'throughput'

  /**
   * There were more rounds, up to so many, while the standard error of a ratio was
   * above `precision`.
   */
  mostRounds: number
  precision: number

  /**
   * How long a rival was to work in a round, in ms.
   */
  target: number

  /**
   * In how many parts, by turns with the others.
   */
  slices: number
  freshProcesses: boolean
  rows: ReportedRow[]

  /**
   * That of a slice, by row and level
   */
  work: Record<string, Work>
}

export interface Work {
  /**
   * How many there are in one batch.
   */
  operations: number

  /**
   * How many times a rival does them, by its name: more often where it is much faster.
   */
  times: Record<string, number>
}

/**
 * As tables name it.
 */
export function describeRounds ({ rounds, mostRounds }: ThroughputReport): string {
  return mostRounds > rounds ? `${rounds} to ${mostRounds} rounds` : `${rounds} rounds`
}

/**
 * What a reader needs to know of a row
 */
export type ReportedRow = Pick<Row, 'name' | 'title' | 'bytes' | 'batch' | 'keepsConnection' | 'published'>

export function describeRow ({ name, title, bytes, batch, keepsConnection, published }: Row): ReportedRow {
  return { name, title, bytes, batch, keepsConnection, published }
}
