import type { Row } from './rows/row.ts'
import type { Contender } from '../../test/lab/peers/contender.ts'
import type { SeriesReport } from '../series.ts'

/** How much is measured, and in what order */
export interface Plan {
  rounds: number

  /**
   * There are more rounds, up to so many, as long as the standard error of a ratio
   * is above `precision`, as a part of it.
   */
  mostRounds: number
  precision: number

  /** How long a rival should work in a round, in ms */
  target: number

  /** In how many parts: between them the others work */
  slices: number

  /** For the order within the rounds */
  seed: number

  /**
   * New processes for every round: what the JIT and the addresses happen to be is
   * noise as well.
   */
  freshProcesses: boolean
}

export interface ThroughputOptions extends Plan {
  /** What to type to do this again */
  command: string
  rows: Row[]
  contenders: Contender[]

  /**
   * How long new processes work before they are measured, in ms: until the code is
   * compiled and buffers have grown. That of a round trip that mostly waits takes
   * longer than half a second.
   */
  warmUp: number

  /** Options for the Node of both ends while they are measured */
  nodeOptions: string[]

  /** Also count allocations and write calls */
  counts: boolean
}

/** All that is known of a throughput benchmark, as its JSON file holds it */
export interface ThroughputReport extends SeriesReport, Plan {
  benchmark: 'throughput'
  rows: ReportedRow[]

  /** That of a slice, by row and level */
  work: Record<string, Work>
}

export interface Work {
  /** How many there are in one batch */
  operations: number

  /** How many times a rival does them, by its name: more often where it is much faster */
  times: Record<string, number>
}

/** As tables name it */
export function describeRounds ({ rounds, mostRounds }: Plan): string {
  return mostRounds > rounds ? `${rounds} to ${mostRounds} rounds` : `${rounds} rounds`
}

export type ReportedRow = Pick<Row, 'name' | 'title' | 'bytes' | 'batch' | 'keepsConnection' | 'published'>

export function describeRow ({ name, title, bytes, batch, keepsConnection, published }: Row): ReportedRow {
  return { name, title, bytes, batch, keepsConnection, published }
}
