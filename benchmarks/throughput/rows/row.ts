import type { Channel, Dialed, Level, Peer } from '../../../test/lab/peers/contender.ts'

interface RowBase {
  name: string
  title: string
  levels: Level[]

  /** The listener's half, for every channel that is opened */
  serve(channel: Channel): void
}

/** Operations, one after another */
export interface TimedRow extends RowBase {
  /** How many follow each other before the clock is looked at: the same for all rivals, since it fills windows and buffers */
  batch: number

  /** How late a timer of 2 ms is meanwhile is measured, too, which costs something itself */
  watchesLoop?: boolean

  /** Only measured where it is asked for by name */
  extra?: boolean

  /** The dialer's half: a batch */
  run(session: Session): Promise<void>
}

/** What lies idle, and takes memory */
export interface IdleRow extends RowBase {
  idle: number

  /** Opens one more */
  open(session: Session): Promise<void>
}

export type Row = TimedRow | IdleRow

export interface Session {
  peer: Peer
  address: string
  connection: Dialed

  /** Open for as long as the connection */
  channel: Channel
}

export const KiB = 1024
export const MiB = 1024 * KiB
