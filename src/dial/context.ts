import type { Address } from './address.ts'
import type { Experience } from './experience.ts'
import type { TCPMetrics } from './metrics.ts'
import type { Report } from './report.ts'
import type { Semaphore } from './semaphore.ts'
import type { Lingering } from '../connection/fin-wait.ts'
import type { OpenSockets } from '../connection/open-sockets.ts'
import type { SocketConnection } from '../connection/socket-connection.ts'
import type { Connector, PortUse } from '../connector.ts'
import type { TCPDialOptions } from '../options.ts'
import type { Recent } from '../recent.ts'
import type { DialSettings, TransportSettings } from '../settings.ts'
import type { Logger } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** What all dials of a transport share */
export interface DialerParts {
  settings: TransportSettings

  connector: Connector
  lingering: Lingering

  /** All sockets of the transport. Each new one is added */
  sockets: OpenSockets

  /** When targets refused to negotiate optimistically, and did not refuse the dial after that, by the clock of `performance.now()` */
  refusals: Recent<number>

  /** Called with every connection before its upgrade, and the port that it left from */
  onConnection(maConn: SocketConnection, port?: PortUse): void
  metrics?: TCPMetrics
  log: Logger

  /** Of the connections */
  connectionLog: Logger
}

/** What all attempts of a dial share */
export interface Dial {
  parts: DialerParts
  settings: DialSettings
  options: TCPDialOptions
  report: Report
}

/** What a dial of several addresses of a peer needs, and a dial of one address does not */
export interface Siblings {
  peer: string
  experience: Experience

  /** An upgrade has failed earlier in this dial */
  isSuspicious: boolean

  /** Asks the connection gater, which libp2p has asked about the driver */
  mayDial?(ma: Multiaddr): Promise<boolean>
}

export interface RaceInit {
  dial: Dial

  /** The address that libp2p dials: its signal ends the race */
  driver: Address

  siblings?: Siblings

  /** How long one attempt may be without a connection until the next is made too, in ms */
  delay: number

  /** ... to the next target of the same name */
  nameDelay: number

  /** How many targets a name may have */
  maxTargets: number

  /** The transport stops */
  stopping: AbortSignal

  /** For those of all dials that wait for an answer, beside the first one of each */
  places: Semaphore

  /** For the names of this dial: a server of the peer's may answer none */
  lookUps: Semaphore
}
