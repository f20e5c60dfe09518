import { ConnectionClosedError, serviceCapabilities, transportSymbol } from '@libp2p/interface'
import { isSupported } from './addresses.ts'
import { assertBaseClass } from './base-class.ts'
import { LingeringSockets } from './connection/fin-wait.ts'
import { OpenSockets } from './connection/open-sockets.ts'
import { ordinary } from './dial/connect.ts'
import { Dialer } from './dial/dialer.ts'
import { dialerMetrics } from './dial/metrics.ts'
import { TCPListener } from './listener/listener.ts'
import { attach } from './plugin.ts'
import { expectIdentity } from './presumed.ts'
import { safeLogger } from './safe-logger.ts'
import { listenerSettings, transportSettings } from './settings.ts'
import { sharingMuxers } from './sharing-muxers.ts'
import type { TCPComponents } from './components.ts'
import type { SocketConnection } from './connection/socket-connection.ts'
import type { BindServer } from './connector.ts'
import type { TCPDialEvents } from './dial-events.ts'
import type { TCPCreateListenerOptions, TCPDialOptions, TCPOptions } from './options.ts'
import type { PluginLayer } from './plugin.ts'
import type { TransportSettings } from './settings.ts'
import type { ComponentLogger, Connection, Listener, Startable, Transport } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

export class TCP implements Transport<TCPDialEvents>, Startable {
  readonly #settings: TransportSettings
  readonly #components: TCPComponents
  readonly #logger: ComponentLogger
  readonly #dialer: Dialer

  readonly #bindServer: BindServer
  readonly #onListen: PluginLayer['onListen']

  /** Every socket of this transport, dialed and accepted */
  readonly #sockets = new OpenSockets()
  readonly #lingering = new LingeringSockets()

  /** Every connection, dialed and accepted. Key: its timeline, which is also that of the upgraded connection */
  readonly #connections = new WeakMap<object, SocketConnection>()

  /**
   * @throws {InvalidParametersError} if an option has a wrong value, or none has this name
   * @throws {Error} what a plug-in says if it cannot work with these options
   * @throws {IncompatibleUtilsError} if this version of `@libp2p/utils` does not fit
   */
  constructor (components: TCPComponents, options?: TCPOptions | null) {
    /** The timeline of each dialed connection, which is also that of the upgraded connection */
    const dialed = new WeakSet<object>()

    assertBaseClass()

    this.#settings = transportSettings(options)
    this.#components = components
    this.#logger = safeLogger(components.logger)

    const log = this.#logger.forComponent('libp2p:tcp')
    const { linux, reusePort } = this.#settings

    const host = { transport: this, components, options: this.#settings, sockets: this.#sockets, log }
    const kernel = attach(linux, host, { connector: ordinary, bindServer: (server, options) => { server.listen(options) } })
    const ports = attach(reusePort, host, kernel)

    this.#bindServer = ports.bindServer
    this.#onListen = ports.onListen
    this.#dialer = new Dialer({
      settings: this.#settings,
      lingering: this.#lingering,
      sockets: this.#sockets,
      connector: ports.connector,
      onConnection: (maConn, port) => {
        this.#connections.set(maConn.timeline, maConn)
        dialed.add(maConn.timeline)
        ports.onDialed?.(maConn, port)
      },
      metrics: dialerMetrics(components.metrics, { ports: ports.ports, fastOpen: kernel.fastOpen }),
      gater: () => components.connectionGater,
      log
    })

    // before the listeners of services, which open streams
    components.events?.addEventListener('connection:open', ({ detail: connection }) => {
      const maConn = this.#connections.get(connection.timeline)

      if (maConn == null) {
        return
      }

      if (connection.status !== 'open' && connection.status !== 'closing') {
        this.#abort(connection)
        return
      }

      if (!sharingMuxers.has(connection.streams)) {
        maConn.onMuxed(connection.streams, dialed.has(connection.timeline))
      }
    })
  }

  readonly [transportSymbol] = true

  readonly [Symbol.toStringTag] = '@libp2p/tcp'

  readonly [serviceCapabilities]: string[] = [
    '@libp2p/transport'
  ]

  /** Dials are possible from the beginning, and again after a stop */
  start (): void {
    this.#dialer.start()
  }

  /**
   * End all dials, and wait for every socket to close, dialed or accepted, lingering ones
   * included. libp2p's connection manager has 500 ms to close the connections;
   * what is still open `closeTimeout` ms later is destroyed.
   */
  async stop (): Promise<void> {
    this.#dialer.stop()
    await this.#sockets.closed(this.#settings.closeTimeout)
  }

  /**
   * @throws {AbortError} if the signal fires before the connection is upgraded
   * @throws {InvalidParametersError} if an option of this dial has a wrong value
   * @throws {TCPConnectError} if the network refuses, or the transport is stopped
   * @throws {Error} the upgrader's error if the upgrade fails
   */
  async dial (ma: Multiaddr, options: TCPDialOptions): Promise<Connection> {
    const connection = await this.#dialer.dial(ma, options)

    expectIdentity('timeline', this.#connections.has(connection.timeline))

    return connection
  }

  /**
   * @throws {InvalidParametersError} if an option has a wrong value
   */
  createListener (options: TCPCreateListenerOptions): Listener {
    return new TCPListener({
      settings: listenerSettings(this.#settings, options),
      upgrader: options.upgrader,
      lingering: this.#lingering,
      sockets: this.#sockets,
      bindServer: this.#bindServer,
      onListen: this.#onListen,
      onConnection: maConn => { this.#connections.set(maConn.timeline, maConn) },
      metrics: this.#components.metrics,
      logger: this.#logger
    })
  }

  /** Its muxer was made after the connection had ended. Nobody has told the muxer, which would ping for ever */
  #abort (connection: Connection): void {
    try {
      connection.abort(new ConnectionClosedError('The connection ended while it was upgraded'))
    } catch {
      // the muxer has tried to send a last message
    }
  }

  /**
   * Takes a list of `Multiaddr`s and returns only TCP and unix socket addresses
   */
  listenFilter (multiaddrs: Multiaddr[]): Multiaddr[] {
    return multiaddrs.filter(isSupported)
  }

  /**
   * Filter check for all Multiaddrs that this transport can dial
   */
  dialFilter (multiaddrs: Multiaddr[]): Multiaddr[] {
    const supported = this.listenFilter(multiaddrs)

    // as libp2p asks about each address that a peer may have
    if (multiaddrs.length === 1 && supported.length === 1) {
      this.#dialer.asked(supported[0])
    }

    return supported
  }
}
