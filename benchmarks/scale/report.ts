import type { SeriesReport } from '../series.ts'

/**
 * All that is known of a scale benchmark, as its JSON file holds it. The row of a
 * series is a number of connections.
 */
export interface ScaleReport extends SeriesReport {
  benchmark: 'scale'
  counts: number[]

  /**
   * How long connections lay idle, in ms.
   */
  hold: number
}
