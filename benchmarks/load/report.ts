import type { Load } from './worker.ts'
import type { BottleneckShape } from '../link/link.ts'
import type { Environment } from '../report/environment.ts'

export type StackName = 'official' | 'transport' | 'ours'

/** A line, and how many streams upload over it */
export interface Cell extends BottleneckShape {
  /** In ms, of the idle line */
  roundTrip: number
  uploads: number
  refill: Refill
}

/**
 * How the application goes on when a stream has drained:
 *
 * - `listener`: in the listener of 'drain'
 * - `microtask`: in a microtask after it, as with `await`
 * - `whole`: not at all, it has sent everything at once
 */
export type Refill = 'listener' | 'microtask' | 'whole'

export interface Pair {
  dialer: StackName
  listener: StackName
}

export interface LoadRow extends Cell, Pair, Load {
  /** Bytes that arrived on each upload */
  uploaded: number[]
}

export interface LoadReport extends Environment {
  benchmark: 'load'
  link: string

  /** In s */
  duration: number
  rows: LoadRow[]
}
