import dns from 'node:dns/promises'
import net from 'node:net'
import { AlreadyStartedError, ConnectionClosedError, ListenError, NotStartedError, TypedEventEmitter, setMaxListeners } from '@libp2p/interface'
import { getThinWaistAddresses } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import { pEvent } from 'p-event'
import { raceSignal } from 'race-signal'
import { endpointName, isUnix, remoteMultiaddr, toEndpoint } from '../addresses.ts'
import { OpenSockets } from '../connection/open-sockets.ts'
import { SocketConnection } from '../connection/socket-connection.ts'
import { RELISTEN_INTERVAL } from '../constants.ts'
import { listenerMetrics } from '../metrics.ts'
import { AcceptGate } from './accept-gate.ts'
import type { Endpoint } from '../addresses.ts'
import type { LingeringSockets } from '../connection/close-path.ts'
import type { ListenerMetrics } from '../metrics.ts'
import type { CloseServerOnMaxConnectionsOpts, SocketOptions } from '../options.ts'
import type { AbortOptions, ComponentLogger, Listener, ListenerEvents, Logger, Metrics, Upgrader } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { ListenOptions, Server, Socket } from 'node:net'

export interface TCPListenerInit {
  upgrader: Upgrader
  socketOptions: SocketOptions
  inactivityTimeout?: number
  maxConnections?: number
  backlog?: number
  closeServerOnMaxConnections?: CloseServerOnMaxConnectionsOpts
  closeTimeout: number
  lingering: LingeringSockets

  /** Told of every accepted socket */
  onSocket(socket: Socket): void
  metrics?: Metrics
  logger: ComponentLogger
}

/** `paused`: the port is given up while there are too many connections */
type Status = 'inactive' | 'active' | 'paused'

const STATUS_CODES: Record<Status, number> = {
  inactive: 0,
  active: 1,
  paused: 2
}

export class TCPListener extends TypedEventEmitter<ListenerEvents> implements Listener {
  readonly #init: TCPListenerInit
  readonly #server: Server
  readonly #sockets = new OpenSockets()
  readonly #gate: AcceptGate
  readonly #metrics: ListenerMetrics
  readonly #log: Logger

  /** Ends upgrades that are under way when the listener closes */
  readonly #shutdown = new AbortController()

  #status: Status = 'inactive'
  #listeningAddr?: Multiaddr

  /** Where to listen; from the first time on with the port that the kernel chose */
  #listenOptions: ListenOptions = {}
  #relistenTimer?: NodeJS.Timeout
  #closing?: Promise<void>

  /** The label of this listener's metrics */
  #label = 'unknown'

  constructor (init: TCPListenerInit) {
    super()

    this.#init = init
    this.#gate = new AcceptGate(init.closeServerOnMaxConnections)
    this.#log = init.logger.forComponent('libp2p:tcp:listener')
    this.#metrics = listenerMetrics(init.metrics, () => ({ [this.#label]: this.#sockets.size }))
    setMaxListeners(Infinity, this.#shutdown.signal)

    // the connection decides what follows the peer's FIN
    this.#server = net.createServer({ ...init.socketOptions, allowHalfOpen: true })

    if (init.maxConnections != null) {
      this.#server.maxConnections = init.maxConnections
    }

    this.#server
      .on('connection', socket => { this.#onSocket(socket) })
      .on('listening', () => { this.#onListening() })
      .on('error', err => {
        this.#log.error('server error on %s - %e', this.#label, err)
        this.#count('errors', 'listen_error')
        this.safeDispatchEvent('error', { detail: err })
      })
      .on('drop', () => { this.#count('events', 'drop') })
  }

  /**
   * @throws {AlreadyStartedError} if the listener listens already
   * @throws {InvalidParametersError} if the address is no TCP or unix address
   * @throws {Error} Node's error if the address cannot be listened on
   */
  async listen (ma: Multiaddr): Promise<void> {
    if (this.#status !== 'inactive') {
      throw new AlreadyStartedError('server is already listening')
    }

    if (this.#closing != null) {
      throw new ListenError('server was closed')
    }

    this.#status = 'active'
    this.#listeningAddr = ma

    try {
      const { allowHalfOpen, keepAlive, noDelay, keepAliveInitialDelay, ...options } = this.#init.socketOptions

      this.#listenOptions = {
        ...options,
        ...await toListenTarget(toEndpoint(ma)),
        backlog: this.#init.backlog
      }

      await this.#bind()
    } catch (err) {
      this.#status = 'inactive'
      throw err
    }
  }

  getAddrs (): Multiaddr[] {
    const address = this.#server.address()

    if (this.#status === 'inactive' || this.#listeningAddr == null || address == null) {
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
   * under way are aborted at once; connections that are open have
   * `closeTimeout` ms to be closed by their owner and are destroyed then.
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
    const wasListening = this.#status !== 'inactive'

    this.#status = 'inactive'
    clearTimeout(this.#relistenTimer)
    this.#log('closing server on %s', this.#label)

    const closed = this.#server.listening ? pEvent(this.#server, 'close', { rejectionEvents: [] }) : undefined
    this.#server.close()
    this.#shutdown.abort()

    await this.#sockets.closed(this.#init.closeTimeout)
    await closed

    if (wasListening) {
      this.#updateStatusMetric()
      this.safeDispatchEvent('close')
    }
  }

  async #bind (): Promise<void> {
    // the signal: a server that is closed before it listens emits nothing
    const listening = pEvent(this.#server, 'listening', { signal: this.#shutdown.signal })
    this.#server.listen(this.#listenOptions)
    await listening

    const address = this.#server.address()

    if (address != null && typeof address !== 'string') {
      this.#listenOptions = { ...this.#listenOptions, port: address.port }
    }

    this.#log('listening on %s', this.#label)
  }

  #onListening (): void {
    const address = this.#server.address()

    if (typeof address === 'string') {
      this.#label = address
    } else if (address != null) {
      this.#label = `${address.address}:${address.port}`
    }

    this.#updateStatusMetric()
    this.safeDispatchEvent('listening')
  }

  /** Never throws: an error in a 'connection' handler ends the process */
  #onSocket (socket: Socket): void {
    // from birth to death: an 'error' without a listener ends the process
    socket.on('error', () => {})

    this.#count('events', 'connection')
    this.#sockets.add(socket)
    this.#init.onSocket(socket)
    socket.once('close', () => { this.#updateGate() })
    this.#updateGate()

    try {
      const maConn = this.#toConnection(socket)
      this.#log('new inbound connection %a', maConn.remoteAddr)
      void this.#upgrade(maConn)
    } catch (err: any) {
      this.#log.error('inbound connection failed - %e', err)
      this.#count('errors', 'inbound_to_connection')
      socket.destroy()
    }
  }

  #toConnection (socket: Socket): SocketConnection {
    const localAddr = this.#listeningAddr

    if (this.#status === 'inactive' || localAddr == null) {
      throw new NotStartedError('Server is not listening')
    }

    const remoteAddr = isUnix(localAddr) ? localAddr : remoteMultiaddr(socket)

    if (remoteAddr == null) {
      throw new ConnectionClosedError('The peer was gone before its connection was accepted')
    }

    if (this.#init.socketOptions.noDelay) {
      socket.setNoDelay(true)
    }

    return new SocketConnection({
      socket,
      remoteAddr,
      localAddr,
      direction: 'inbound',
      inactivityTimeout: this.#init.inactivityTimeout,
      closeTimeout: this.#init.closeTimeout,
      allowHalfOpen: this.#init.socketOptions.allowHalfOpen,
      lingering: this.#init.lingering,
      metrics: this.#metrics.events,
      metricPrefix: `${this.#label} `,
      log: this.#init.logger.forComponent('libp2p:tcp:connection')
    })
  }

  async #upgrade (maConn: SocketConnection): Promise<void> {
    try {
      await this.#init.upgrader.upgradeInbound(maConn, {
        signal: this.#shutdown.signal
      })

      this.#log('inbound connection upgraded %a', maConn.remoteAddr)
    } catch (err: any) {
      this.#log.error('inbound connection upgrade failed - %e', err)
      this.#count('errors', 'inbound_upgrade')
      maConn.abort(err)
    }
  }

  /** Give up the port when there are too many connections, take it again when there are few enough */
  #updateGate (): void {
    this.#gate.update(this.#sockets.size)

    if (this.#status === 'active' && this.#gate.isShut && this.#server.listening) {
      this.#log('pausing server on %s with %d connections', this.#label, this.#sockets.size)
      this.#status = 'paused'
      this.#server.close()
      this.#updateStatusMetric()
    } else if (this.#status === 'paused' && !this.#gate.isShut) {
      void this.#resume()
    }
  }

  async #resume (): Promise<void> {
    clearTimeout(this.#relistenTimer)
    this.#status = 'active'

    try {
      await this.#bind()
      // connections may have come or gone while the port was being taken
      this.#updateGate()
    } catch (err: any) {
      if (this.#status !== 'active') {
        return
      }

      this.#log.error('error attempting to listen again on %s - %e', endpointName(this.#listenOptions as Endpoint), err)
      this.#status = 'paused'
      this.#relistenTimer = setTimeout(() => { this.#updateGate() }, RELISTEN_INTERVAL)
      this.#relistenTimer.unref()
      this.#init.closeServerOnMaxConnections?.onListenError?.(err)
    }
  }

  #updateStatusMetric (): void {
    this.#metrics.status?.update({ [this.#label]: STATUS_CODES[this.#status] })
  }

  #count (group: 'events' | 'errors', name: string): void {
    this.#metrics[group]?.increment({ [`${this.#label} ${name}`]: true })
  }
}

/** `net.Server` knows nothing of address families: look names up first, where the address says which */
async function toListenTarget (endpoint: Endpoint): Promise<ListenOptions> {
  if ('path' in endpoint) {
    return { path: endpoint.path }
  }

  const { host, port, family } = endpoint

  if (net.isIP(host) !== 0) {
    return { host, port, ipv6Only: family === 6 }
  }

  const { address } = await dns.lookup(host, { family })

  return { host: address, port, ipv6Only: family === 6 }
}
