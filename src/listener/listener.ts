import net from 'node:net'
import { AlreadyStartedError, ConnectionClosedError, ListenError, NotStartedError, TypedEventEmitter, setMaxListeners } from '@libp2p/interface'
import { getThinWaistAddresses } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import { raceSignal } from 'race-signal'
import { isUnix, remoteMultiaddr, toEndpoint } from '../addresses.ts'
import { SocketConnection } from '../connection/socket-connection.ts'
import { ignoreErrors } from '../connection/socket-listeners.ts'
import { DescriptorWatch } from './descriptor-watch.ts'
import { ListenerLimits } from './limits.ts'
import { ListenerMetrics } from './listener-metrics.ts'
import { PausableServer } from './pausable-server.ts'
import { Pausing } from './pausing.ts'
import type { Endpoint } from '../addresses.ts'
import type { Lingering } from '../connection/fin-wait.ts'
import type { OpenSockets } from '../connection/open-sockets.ts'
import type { BindServer } from '../connector.ts'
import type { ListenerSettings } from '../settings.ts'
import type { AbortOptions, ComponentLogger, Listener, ListenerEvents, Logger, Metrics, Upgrader } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Socket } from 'node:net'

export interface TCPListenerInit {
  settings: ListenerSettings
  upgrader: Upgrader
  lingering: Lingering

  /** All sockets of the transport. Each accepted one is added */
  sockets: OpenSockets
  metrics?: Metrics
  logger: ComponentLogger

  /** @default `server.listen(options)` */
  bindServer?: BindServer

  /** Called when it begins to listen. The promise resolves when it listens, and rejects if it cannot */
  onListen?(endpoint: Endpoint, listening: Promise<void>): void

  /** Called with every connection before its upgrade */
  onConnection(maConn: SocketConnection): void
}

export class TCPListener extends TypedEventEmitter<ListenerEvents> implements Listener {
  readonly #init: TCPListenerInit
  readonly #server: PausableServer
  readonly #limits: ListenerLimits
  readonly #pausing: Pausing
  readonly #descriptors: DescriptorWatch
  readonly #metrics: ListenerMetrics
  readonly #log: Logger

  /** One for all connections: a logger takes 3 KiB. The upgrader gives each a scope of its own */
  readonly #connectionLog: Logger

  /** Ends upgrades that are under way when the listener closes */
  readonly #shutdown = new AbortController()

  #listeningAddr?: Multiaddr

  /** Whether 'listening' was emitted: only then is 'close' */
  #hasListened = false
  #closing?: Promise<void>

  constructor (init: TCPListenerInit) {
    super()

    const { closeServerOnMaxConnections, maxConnections, socket } = init.settings

    this.#init = init
    this.#log = init.logger.forComponent('libp2p:tcp:listener')
    this.#connectionLog = init.logger.forComponent('libp2p:tcp:connection')
    this.#metrics = new ListenerMetrics(init.metrics, () => this.#limits.sockets)
    setMaxListeners(Infinity, this.#shutdown.signal)

    // the connection decides what follows the peer's FIN
    const server = net.createServer({ ...socket, allowHalfOpen: true })
    const limitServer = (): void => {
      if (this.#limits.maxSockets != null) {
        server.maxConnections = this.#limits.maxSockets
      }
    }

    this.#limits = new ListenerLimits({
      maxConnections,
      closeServerOnMaxConnections,
      sockets: init.sockets,
      lingering: init.lingering,
      onLeave: () => {
        limitServer()
        this.#pausing.update()
      }
    })
    limitServer()

    server
      .on('connection', socket => { this.#onSocket(socket) })
      .on('listening', () => { this.#onListening() })
      .on('error', err => {
        this.#log.error('server error on %s - %e', this.#metrics.label, err)
        this.#metrics.countError('listen_error')
        this.safeDispatchEvent('error', { detail: err })
      })
      .on('drop', () => { this.#metrics.countEvent('drop') })

    this.#server = new PausableServer(server, init.bindServer)
    this.#pausing = new Pausing({
      server: this.#server,
      limits: this.#limits,
      metrics: this.#metrics,
      log: this.#log,
      onListenError: closeServerOnMaxConnections?.onListenError
    })
    this.#descriptors = new DescriptorWatch({
      onNone: checks => {
        this.#metrics.countError('no_descriptors')

        if (checks === 1) {
          this.#log.error('no file descriptor is left: connections to %s are closed before they are accepted', this.#metrics.label)
        }
      },
      onFree: () => { this.#log('file descriptors are free again, %s accepts connections', this.#metrics.label) }
    })
  }

  /**
   * @throws {AlreadyStartedError} if the listener listens already
   * @throws {InvalidParametersError} if the address is no TCP or unix address
   * @throws {Error} Node's error if the address cannot be listened on
   */
  async listen (ma: Multiaddr): Promise<void> {
    if (this.#server.state === 'listening' || this.#server.state === 'paused') {
      throw new AlreadyStartedError('server is already listening')
    }

    if (this.#server.state === 'closed') {
      throw new ListenError('server was closed')
    }

    const { backlog, socket } = this.#init.settings
    const { allowHalfOpen, keepAlive, keepAliveInitialDelay, noDelay, ...options } = socket

    this.#listeningAddr = ma

    const endpoint = toEndpoint(ma)
    const listening = this.#server.listen(endpoint, { backlog, ...options })
    this.#init.onListen?.(endpoint, listening)
    await listening
    this.#log('listening on %s', this.#metrics.label)
  }

  getAddrs (): Multiaddr[] {
    const address = this.#server.address()

    if (this.#listeningAddr == null || address == null) {
      return []
    }

    if (typeof address === 'string') {
      return [
        multiaddr(`/unix/${encodeURIComponent(address)}`)
      ]
    }

    return getThinWaistAddresses(this.#listeningAddr, address.port)
  }

  updateAnnounceAddrs (): void {

  }

  /**
   * Stop listening and wait for every connection to close. Upgrades that are
   * under way are aborted at once; connections that are open have 500 ms to be
   * closed by their owner, and are destroyed `closeTimeout` ms later.
   *
   * The signal ends the wait, not the close.
   */
  async close (options?: AbortOptions): Promise<void> {
    if (this.#closing == null) {
      this.#closing = this.#close()
      this.#closing.catch(() => {})
    }

    return raceSignal(this.#closing, options?.signal)
  }

  async #close (): Promise<void> {
    const closed = this.#server.close()

    this.#descriptors.stop()
    this.#log('closing server on %s', this.#metrics.label)
    this.#shutdown.abort()

    await this.#limits.closed(this.#init.settings.connection.closeTimeout)
    await closed

    if (this.#hasListened) {
      this.#metrics.updateStatus(this.#server.state)
      this.safeDispatchEvent('close')
    }
  }

  #onListening (): void {
    const address = this.#server.address()

    if (address != null) {
      this.#metrics.listensOn(address)
    }

    this.#metrics.updateStatus(this.#server.state)
    this.#hasListened = true
    this.safeDispatchEvent('listening')
  }

  /** Never throws: an error in a 'connection' handler ends the process */
  #onSocket (socket: Socket): void {
    ignoreErrors(socket)

    try {
      if (!this.#limits.admit(socket)) {
        this.#metrics.countEvent('drop')
        socket.destroy()
        return
      }

      this.#descriptors.lookLater()
      this.#metrics.countEvent('connection')
      this.#pausing.update()

      const maConn = this.#toConnection(socket)
      this.#init.onConnection(maConn)
      this.#log('new inbound connection %a', maConn.remoteAddr)
      void this.#upgrade(maConn)
    } catch (err: any) {
      socket.destroy()
      this.#log.error('inbound connection failed - %e', err)
      this.#metrics.countError('inbound_to_connection')
    }
  }

  #toConnection (socket: Socket): SocketConnection {
    const { settings } = this.#init
    const localAddr = this.#listeningAddr

    if (this.#server.state === 'closed' || localAddr == null) {
      throw new NotStartedError('Server is not listening')
    }

    const remoteAddr = isUnix(localAddr) ? localAddr : remoteMultiaddr(socket)

    if (remoteAddr == null) {
      throw new ConnectionClosedError('The peer was gone before its connection was accepted')
    }

    if (settings.socket.noDelay) {
      socket.setNoDelay(true)
    }

    return new SocketConnection({
      socket,
      remoteAddr,
      localAddr,
      direction: 'inbound',
      settings: settings.connection,
      lingering: this.#limits,
      metrics: this.#metrics.events,
      metricPrefix: `${this.#metrics.label} `,
      log: this.#connectionLog
    })
  }

  async #upgrade (maConn: SocketConnection): Promise<void> {
    try {
      await maConn.upgrade(async () => this.#init.upgrader.upgradeInbound(maConn, {
        signal: this.#shutdown.signal
      }))

      this.#log('inbound connection upgraded %a', maConn.remoteAddr)
    } catch (err: any) {
      this.#log.error('inbound connection upgrade failed - %e', err)
      this.#metrics.countError('inbound_upgrade')
      maConn.abort(err)
    }
  }
}
