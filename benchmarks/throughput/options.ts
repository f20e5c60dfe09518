import type { Row } from './rows/row.ts'
import type { Contender } from '../contenders/contender.ts'

export interface ThroughputOptions {
  /**
   * What to type to do this again.
   */
  command: string
  rows: Row[]
  contenders: Contender[]

  rounds: number

  /**
   * There are more rounds, up to so many, as long as the standard error of a ratio
   * is above `precision`, as a part of it.
   */
  mostRounds: number
  precision: number

  /**
   * How long a rival should work in a round, in ms.
   */
  target: number

  /**
   * In how many parts: between them the others work.
   */
  slices: number

  /**
   * How long new processes work before they are measured, in ms: until the code is
   * compiled and buffers have grown. That of a round trip that mostly waits takes
   * longer than half a second.
   */
  warmUp: number

  /**
   * For the order within the rounds.
   */
  seed: number

  /**
   * New processes for every round: what the JIT and the addresses happen to be is
   * noise as well.
   */
  freshProcesses: boolean

  /**
   * Options for the Node of both ends while they are measured.
   */
  nodeOptions: string[]

  /**
   * Also count allocations and write calls.
   */
  counts: boolean
}
