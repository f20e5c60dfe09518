import type { Place } from './places.ts'
import type { Endpoint } from '../../addresses.ts'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Socket } from 'node:net'

/**
 * - `waiting`: its turn has not come, or is to come again
 * - `asking`: the connection gater is asked
 * - `queued`: too many sockets of the node wait for an answer
 * - `connecting`: its SYN is not answered yet
 * - `upgrading`: it is connected, and upgraded
 * - `failed`: for good, with the error
 */
export type EntrantState = 'waiting' | 'asking' | 'queued' | 'connecting' | 'upgrading' | 'failed'

/** One address in a race */
export interface Entrant {
  readonly ma: Multiaddr
  readonly endpoint: Endpoint

  /** The family, host and port, or the path: the same for all multiaddrs that lead to the same targets */
  readonly name: string
  state: EntrantState
  error?: Error

  /** How often it was begun in this dial */
  starts: number

  /** The connection gater has allowed it */
  isAllowed: boolean

  /** What belongs to the attempt that is under way */
  attempt?: Attempt
}

export interface Attempt {
  readonly controller: AbortController

  /** When it began to connect, by the clock of `performance.now()` */
  since: number
  place?: Place
  socket?: Socket

  /** When it connected, if it was the first */
  connected?: number

  /** Until when its upgrade is awaited before others are tried too */
  lateAt?: number

  /** The peer has said something, so it was given more time */
  hasSpoken?: boolean
}

export function newEntrant (ma: Multiaddr, endpoint: Endpoint, name: string): Entrant {
  return { ma, endpoint, name, state: 'waiting', starts: 0, isAllowed: false }
}
