import type { TCPMetrics } from './metrics.ts'
import type { Report } from './report.ts'
import type { Lingering } from '../connection/fin-wait.ts'
import type { OpenSockets } from '../connection/open-sockets.ts'
import type { SocketConnection } from '../connection/socket-connection.ts'
import type { Connector, PortUse } from '../connector.ts'
import type { TCPDialOptions } from '../options.ts'
import type { Recent } from '../recent.ts'
import type { DialSettings, TransportSettings } from '../settings.ts'
import type { Logger } from '@libp2p/interface'

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
