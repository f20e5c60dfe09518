import type { Endpoint } from './addresses.ts'
import type { TCPComponents } from './components.ts'
import type { BindServer, Connector, FastOpenOutcome, PortUse } from './connector.ts'
import type { TCPOptions } from './options.ts'
import type { CounterGroup, Logger } from '@libp2p/interface'
import type { Socket } from 'node:net'

const attachment = Symbol('libp2p-fast-tcp/attachment')

/** What a plug-in is given when a transport is made */
export interface PluginHost {
  transport: object
  components: TCPComponents
  options: Pick<TCPOptions, 'dialOpts' | 'listenOpts'>

  /** All sockets of the transport */
  sockets: MeasuredSockets
  log: Logger
}

/** How a transport opens sockets and makes servers listen */
export interface SocketLayer {
  connector: Connector
  bindServer: BindServer
}

/** A plug-in wraps the layer below it */
export interface PluginLayer extends SocketLayer {
  /** Called when a listener begins to listen. The promise resolves when it listens, and rejects if it cannot */
  onListen?(endpoint: Endpoint, listening: Promise<void>): void

  /** Called with every dialed connection before its upgrade, and the port that it left from */
  onDialed?(maConn: DialedConnection, port?: PortUse): void

  /** Sockets that were opened, by the port that they left from */
  ports?: CounterGroup<PortUse>

  /** Dials, by what became of the data in the SYN */
  fastOpen?: CounterGroup<FastOpenOutcome>
}

export interface DialedConnection {
  /** Also that of the upgraded connection */
  readonly timeline: object

  /** Of the peer, while the socket is open */
  readonly remoteIP?: string
}

/** Sockets, and since when each is open, by the clock of `performance.now()` */
export interface MeasuredSockets extends Iterable<[Socket, number]> {
  readonly size: number
}

export type Attach = (host: PluginHost, below: SocketLayer) => PluginLayer

/** What `linux()` and `reusePort()` return. Only {@link pluginFor} makes one, since the key is not public */
export interface Plugin<Option extends string> {
  readonly option: Option
}

export function pluginFor <Option extends string> (option: Option, attach: Attach): Plugin<Option> {
  return Object.freeze({ option, [attachment]: attach })
}

export function isPluginFor (option: string, value: any): boolean {
  return typeof value?.[attachment] === 'function' && value.option === option
}

/**
 * Puts a plug-in on a layer, if there is one.
 *
 * @throws {Error} what the plug-in says if it cannot work here, or not with these options
 */
export function attach (plugin: Plugin<string> | undefined, host: PluginHost, below: SocketLayer): PluginLayer {
  return plugin == null ? below : (plugin as { [attachment]: Attach } & Plugin<string>)[attachment](host, below)
}
