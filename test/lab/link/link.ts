import type { Tasks } from '../process/serve.ts'
import type { Worker, WorkerInit } from '../process/worker.ts'

/**
 * How the delay is made, best first:
 *
 * - `netem`: two network namespaces, a veth pair, `tc netem`
 * - `relay`: two network namespaces joined by a process that relays the packets late; real kernel TCP at both ends
 * - `proxy`: a delaying TCP proxy; no root needed, hides the trip of the SYN
 * - `loopback`: no delay
 */
export type LinkKind = 'netem' | 'relay' | 'proxy' | 'loopback'

export type LinkEnd = 'listener' | 'dialer'

export interface LinkShape {
  /** One way, in ms */
  delay: number

  /** What limits each direction. Only a relay link has it */
  bottleneck?: BottleneckShape

  /** In each direction. Only a relay link has it */
  loss?: Loss

  /** With which congestion control both ends send, as the kernel names it. The system's if not given. Only in namespaces */
  congestion?: string
}

export interface Loss {
  /** Of the packets, 0 to 100 */
  percent: number

  /** The same packets, counted from the first, are lost with the same seed */
  seed: number
}

/** What a relay link did to the packets of one direction. Times are medians, 95th percentiles and maxima, in ms */
export interface Traffic {
  packets: number
  bytes: number

  /** The queue was full */
  dropped: number

  /** As `Loss` has it */
  lost: number

  /** How long packets waited for their turn */
  queued: number[]

  /** How much later than they should packets left, because the machine was busy */
  late: number[]
}

export interface BottleneckShape {
  /** In Mbit/s */
  rate: number

  /** How much waits for its turn, in bytes. What comes on top is dropped */
  queue: number
}

export interface Address {
  host: string
  port: number
}

/** Two ends and what lies between them, before the round trip is known. */
export interface LinkParts {
  kind: LinkKind

  /** What lies between the ends, in words for a report. */
  title: string

  /** Round trips that a dial over a real link takes and over this one does not. */
  hiddenRoundTrips: number
  listenHost: string

  /** What to dial at the dialer's end to reach this port at the listener's. */
  dialAddress(port: number): Promise<Address>

  /** The command line that runs this command line at one end. */
  commandAt(end: LinkEnd, command: string[]): string[]

  /** What was done so far to what each end has sent; a relay link tells */
  traffic?(): Promise<Record<LinkEnd, Traffic>>

  /** Loses packets of both directions from now on; a relay link can */
  lose?(loss: Loss): Promise<void>
  close(): Promise<void>
}

export interface Link extends LinkParts {
  shape: LinkShape

  /** As it was measured, in ms */
  roundTrip: number

  /** Why the better kinds were passed over, empty when the first one worked. */
  passedOver: Array<{ kind: LinkKind, reason: string }>

  /** Starts a worker at one end. `close` ends it too. */
  start<T extends Tasks>(end: LinkEnd, init: Omit<WorkerInit, 'under' | 'group'>): Promise<Worker<T>>
}
