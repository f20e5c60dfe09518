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

/** What a user of the line waited for */
export interface Wait {
  kind: 'echo' | 'stream'

  /** When it began, in ms since the uploads did */
  at: number

  /** Undefined if it never ended */
  ms?: number
}

export interface Load {
  waits: Wait[]

  /** How long the connection lived, in ms: as long as was asked for, if it outlives the load */
  lived: number
  error?: string
  rss: number
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
