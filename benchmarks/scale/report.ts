import type { Contender } from '../../test/lab/peers/contender.ts'
import type { SeriesReport } from '../series-old.ts'

export interface ScaleOptions {
  /** What to type to do this again */
  command: string
  counts: number[]

  /** The most connections at the stream level: each has a handshake at both ends */
  maxStreamLevel: number
  contenders: Contender[]
  rounds: number

  /** How long connections lie idle, in ms */
  hold: number

  /** For the order within the rounds */
  seed: number
}

/**
 * All that is known of a scale benchmark, as its JSON file holds it. The row of a
 * series is a number of connections.
 */
export interface ScaleReport extends SeriesReport, Pick<ScaleOptions, 'counts' | 'hold'> {
  benchmark: 'scale'
}
