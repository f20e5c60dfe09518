import type { BottleneckShape, LinkKind } from '../../test/lab/link/link.ts'
import type { PeerName } from '../../test/lab/peers/build.ts'
import type { Report } from '../series.ts'

export type JsName = 'official' | 'transport' | 'ours' | 'no-window' | 'linux'
export type StackName = JsName | PeerName

/** A line, and how many streams upload over it */
export interface Cell extends BottleneckShape {
  /** In ms, of the idle line */
  roundTrip: number

  /** The congestion control of both ends, as the kernel names it */
  congestion: string
  uploads: number
}

export interface Pair {
  dialer: StackName
  listener: StackName
}

/** What a user of the line waited for */
export interface Wait {
  kind: 'echo' | 'stream'

  /** When it began, in ms since the uploads did */
  at: number

  /** Undefined if it had not ended when the load was over */
  ms?: number

  /** It ended with an error, such as a timeout */
  hasFailed?: boolean
}

/** What the uploader tells */
export interface Load {
  /** An echo before the uploads, in ms */
  idle: number
  waits: Wait[]

  /** How long the connection lived, in ms: as long as was asked for, if it outlives the load */
  lived: number

  /** What ended the connection */
  error?: string

  /** The most that the process took, in bytes */
  rss: number
}

/** What the receiver tells: bytes on each, and bytes a ms from the first message to the last one within `EARLY` ms */
export interface Arrived {
  uploads: number[]
  early: number
}

/** The official transport lives about so long, in ms */
export const EARLY = 10_000

export interface LoadRow extends Cell, Pair, Omit<Load, 'waits'> {
  /** In s, how long the load was to last */
  seconds: number

  /** In ms */
  echo: { p50: number, p95: number, max: number }
  stream: { p50: number, max: number, begun: number, failed: number }

  arrived: Arrived

  /** In ms, p50, p95 and maximum: how long packets of the uploads waited in the link's queue, and how late the relay was */
  queued: number[]
  late: number[]

  /** Packets that found the queue full */
  dropped: number

  /** Every wait, where a chart shows them */
  waits?: Wait[]
}

/** A handler takes 20 ms a message, while a polite sender sends as fast as it may */
export interface SlowReaderRow {
  stack: JsName

  /** In MiB */
  sent: number
  read: number

  /** In s and MiB */
  samples: Array<{ at: number, sender: number, receiver: number }>
  error?: string
}

/** A node sends on new connections over a long line without a rate */
export interface TransferRow {
  link: LinkKind
  sender: JsName
  receiver: JsName

  /** In ms */
  took: number[]
}

/** Lines take no turns: each row has what it was measured as */
export interface LoadReport extends Report {
  link: string
  rows: LoadRow[]
  slowReaders: SlowReaderRow[]
  transfers: TransferRow[]
}
