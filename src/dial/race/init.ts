import type { Entrant } from './entrant.ts'
import type { Experience } from './experience.ts'
import type { Places } from './places.ts'
import type { Connection, Logger } from '@libp2p/interface'
import type { Queue } from '@libp2p/utils'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Socket } from 'node:net'

/** What the race wants to hear from a dial, and may decide */
export interface DialHooks {
  /**
   * The socket is connected, and nothing was sent. `isPending`: with TCP Fast Open the SYN still waits for the first write
   *
   * @throws {AbortError} if the connection is not needed any more
   */
  onConnected(socket: Socket, isPending: boolean): void

  /** Whether the SYN may wait for data */
  maySynWait: boolean
}

/** What the peer may cost us with names that it announces */
export interface NameLimits {
  /** How many targets of a name may be tried */
  maxTargets: number

  /** Names of one dial wait for each other here. A look-up counts until it ends: nothing can cancel it */
  lookUps: Queue<unknown[]>
}

export interface RaceInit {
  peer: string

  /** The address that libp2p dials: its signal ends the race */
  driver: Entrant

  /** In the order in which they are tried, the driver among them */
  entrants: Entrant[]
  delay: number

  /** An upgrade has failed earlier in this dial */
  isSuspicious: boolean
  signal: AbortSignal

  /** The transport stops */
  stopping: AbortSignal
  places: Places
  experience: Experience
  log: Logger

  /** Asks the connection gater, which libp2p has asked about the driver */
  mayDial?(ma: Multiaddr): Promise<boolean>
  dial(ma: Multiaddr, signal: AbortSignal, hooks: DialHooks): Promise<Connection>
}
