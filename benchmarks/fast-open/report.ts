import type { Environment } from '../../test/lab/report/environment.ts'

export type Side = 'dialer' | 'listener'

/** A TCP segment, in ms since the first one of its dial was sent */
export interface Segment {
  from: Side
  sent: number
  received: number

  /** As tcpdump abbreviates them */
  flags: string
  bytes: number
}

/** One dial, until its first byte was echoed */
export interface CapturedDial {
  rival: string
  title: string

  /** ms until the first byte was back, as the dialer timed it */
  firstByte: number
  segments: Segment[]
}

export interface FastOpenReport extends Environment {
  benchmark: 'fast-open'
  link: string
  roundTrip: number
  dials: CapturedDial[]
}
