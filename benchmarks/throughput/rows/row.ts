import type { Channel, Dialed, Level, Peer } from '../../../test/lab/peers/contender.ts'

export interface Row {
  name: string
  title: string

  /** Payload of one operation in one direction. */
  bytes: number
  levels: Level[]

  /** Whether connections live as long as the measurement. */
  keepsConnection: boolean

  /**
   * Where one sample of the latency is the average of several messages: how
   * many, and what has happened to them by then.
   */
  batch?: { messages: number, title: string }

  /** False where what is sent and allocated is not that of the operations alone. */
  countable?: boolean

  /** How few operations say something, and how many make sense in one batch. */
  minOperations?: number
  maxOperations?: number

  /** Only measured where it is asked for by name. */
  extra?: boolean

  /**
   * How a report on tcp-conn, a Go package with a pool, multiplexing and chunks,
   * relates to raw TCP on its own machine; the operations a second are for the
   * record, never for a comparison.
   */
  published: { operationsPerSecond?: number, overhead?: number }

  /** The listener's half, for every channel that is opened. */
  serve(channel: Channel): void

  /** The dialer's half; tells when an operation is done. */
  run(session: Session, count: number, onOperation: () => void): Promise<void>
}

export interface Session {
  peer: Peer
  address: string
  connection: Dialed

  /** Open for as long as the connection */
  channel: Channel
}

export const KiB = 1024
export const MiB = 1024 * KiB
