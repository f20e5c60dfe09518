import { ConnectionClosedError, InvalidParametersError, NotStartedError, serviceCapabilities, transportSymbol } from '@libp2p/interface'
import { CustomProgressEvent } from 'progress-events'
import { raceSignal } from 'race-signal'
import { endpointName, isSupported, toEndpoint } from './addresses.ts'
import { connect } from './dial/connect.ts'
import { LingeringSockets } from './connection/lingering.ts'
import { OpenSockets } from './connection/open-sockets.ts'
import { SocketConnection } from './connection/socket-connection.ts'
import { CLOSE_TIMEOUT, MAX_TIMEOUT, STALLED_WRITE_TIMEOUT } from './constants.ts'
import { abortError } from './errors.ts'
import { TCPListener } from './listener/listener.ts'
import { dialerMetrics } from './metrics.ts'
import { chooseDialMode, describeDialMode } from './dial/mode.ts'
import { gateNewStreams } from './negotiation/early-streams.ts'
import { Refusals } from './dial/refusals.ts'
import { mergeDialOptions, mergeListenOptions } from './options.ts'
import { printableLogger } from './printable.ts'
import type { OptimisticNegotiation } from './negotiation/connection.ts'
import type { DialMode } from './dial/mode.ts'
import type { SocketOptions, TCPComponents, TCPCreateListenerOptions, TCPDialEvents, TCPDialOptions, TCPMetrics, TCPOptions } from './options.ts'
import type { ComponentLogger, Connection, Listener, Logger, Startable, Transport } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Socket } from 'node:net'

const TIMEOUTS = ['closeTimeout', 'inboundSocketInactivityTimeout', 'outboundSocketInactivityTimeout', 'stalledWriteTimeout'] as const

export class TCP implements Transport<TCPDialEvents>, Startable {
  readonly #options: Readonly<TCPOptions>
  readonly #closeTimeout: number
  readonly #stalledWriteTimeout: number
  readonly #components: TCPComponents
  readonly #metrics?: TCPMetrics
  readonly #logger: ComponentLogger
  readonly #log: Logger

  /** One for all connections: a logger takes 3 KiB. The upgrader gives each a scope of its own */
  readonly #connectionLog: Logger

  /** Every socket of this transport, dialled and accepted */
  readonly #sockets = new OpenSockets()
  readonly #lingering = new LingeringSockets()
  readonly #refusals = new Refusals()

  /** Of all connections of this transport. libp2p hands the object on to the upgraded connection */
  readonly #timelines = new WeakSet<object>()

  /** How often it was stopped. A dial that was under way then opens no socket after that */
  #stops = 0

  /**
   * @throws {InvalidParametersError} if a timeout is no number of ms from 0 on
   */
  constructor (components: TCPComponents, options: TCPOptions = {}) {
    this.#options = Object.freeze({ ...options, ...timeoutsOf(options) })
    this.#closeTimeout = this.#options.closeTimeout ?? CLOSE_TIMEOUT
    this.#stalledWriteTimeout = this.#options.stalledWriteTimeout ?? STALLED_WRITE_TIMEOUT
    this.#components = components
    this.#metrics = dialerMetrics(components.metrics)
    this.#logger = printableLogger(components.logger)
    this.#log = this.#logger.forComponent('libp2p:tcp')
    this.#connectionLog = this.#log.newScope('connection')

    // before those of services, which open streams there
    components.events?.addEventListener('connection:open', ({ detail: connection }) => {
      if (this.#timelines.has(connection.timeline)) {
        gateNewStreams(connection)
      }
    })
  }

  readonly [transportSymbol] = true

  readonly [Symbol.toStringTag] = '@libp2p/tcp'

  readonly [serviceCapabilities]: string[] = [
    '@libp2p/transport'
  ]

  start (): void {

  }

  /**
   * Wait for every socket to close, dialled or accepted, lingering ones
   * included. libp2p's connection manager has 500 ms to close the connections;
   * what is still open `closeTimeout` ms later is destroyed.
   */
  async stop (): Promise<void> {
    this.#stops++
    await this.#sockets.closed(this.#closeTimeout)
  }

  /**
   * @throws {AbortError} if the signal fires before the connection is upgraded
   * @throws {TCPConnectError} if the network refuses
   * @throws {Error} the upgrader's error if the upgrade fails
   */
  async dial (ma: Multiaddr, options: TCPDialOptions): Promise<Connection> {
    const socketOptions = mergeDialOptions(this.#options.dialOpts, options)
    const mode = chooseDialMode(this.#options, options, this.#refusals.age(refusalKey(ma)))
    const { negotiation } = mode
    const stops = this.#stops

    try {
      return await this.#dialOnce(ma, socketOptions, options, mode, stops)
    } catch (err: any) {
      // the verdict of the wire: the upgrader's errors do not tell why it failed
      if (negotiation?.state !== 'refused' || options.signal.aborted) {
        throw err
      }

      this.#log('%a refused %s, dialling again to negotiate in full - %e', ma, negotiation.protocol, err)
      this.#metrics?.optimistic?.increment({ redialled: true })
      options.onProgress?.(new CustomProgressEvent('tcp:redial'))

      const connection = await this.#dialOnce(ma, socketOptions, options, { name: 'redial' }, stops)

      // It was the optimism: a peer that has too many connections, say, refuses
      // either way, and is none to negotiate with in full from now on
      this.#refusals.add(refusalKey(ma))

      return connection
    }
  }

  async #dialOnce (ma: Multiaddr, socketOptions: SocketOptions, options: TCPDialOptions, mode: DialMode, stops: number): Promise<Connection> {
    const { negotiation } = mode

    if (options.signal.aborted) {
      throw abortError(options.signal)
    }

    options.onProgress?.(new CustomProgressEvent('tcp:open-connection'))

    const socket = await connect(ma, socketOptions, {
      signal: options.signal,
      log: this.#log,
      metrics: this.#metrics?.events,
      onSocket: socket => {
        this.#sockets.add(socket)

        // by a progress handler or a look-up, too early for `stop` to know the socket
        if (this.#stops !== stops) {
          socket.destroy(new NotStartedError('The transport was stopped'))
        }
      }
    })

    const maConn = this.#toConnection(socket, ma, socketOptions, negotiation)

    try {
      this.#log('new outbound connection %a', ma)

      const connection = await this.#upgrade(maConn, options)
      this.#log('negotiation with %a was %s', ma, describeDialMode(mode))

      // by what is above, while the upgrader waited for something else
      if (maConn.status === 'aborted') {
        const error = maConn.closeError ?? new ConnectionClosedError(`The connection to ${ma} was aborted before it was upgraded`)
        this.#abort(connection, error)
        throw error
      }

      return connection
    } catch (err: any) {
      maConn.abort(err)
      this.#log('negotiation with %a, which failed, was %s', ma, describeDialMode(mode))

      // what is refused is dialled again
      if (negotiation?.state !== 'refused' || options.signal.aborted) {
        this.#metrics?.errors.increment({ outbound_upgrade: true })
        this.#log.error('error upgrading outbound connection - %e', err)
      }

      throw err
    } finally {
      if (negotiation?.state === 'verified') {
        this.#metrics?.optimistic?.increment({ accepted: true })
      } else if (negotiation?.state === 'refused') {
        this.#metrics?.optimistic?.increment({ refused: true })
      }
    }
  }

  #toConnection (socket: Socket, remoteAddr: Multiaddr, socketOptions: SocketOptions, filter?: OptimisticNegotiation): SocketConnection {
    try {
      const maConn = new SocketConnection({
        socket,
        remoteAddr,
        direction: 'outbound',
        inactivityTimeout: this.#options.outboundSocketInactivityTimeout,
        closeTimeout: this.#closeTimeout,
        stalledWriteTimeout: this.#stalledWriteTimeout,
        allowHalfOpen: socketOptions.allowHalfOpen,
        lingering: this.#lingering,
        filter,
        metrics: this.#metrics?.events,
        log: this.#connectionLog
      })

      this.#timelines.add(maConn.timeline)

      return maConn
    } catch (err: any) {
      this.#metrics?.errors.increment({ outbound_to_connection: true })
      socket.destroy(err)
      throw err
    }
  }

  /** Its muxer was made too late to be told that the connection is over, and may try to say good-bye over it */
  #abort (connection: Connection, error: Error): void {
    try {
      connection.abort(error)
    } catch (err) {
      this.#log.error('error aborting outbound connection - %e', err)
    }
  }

  /** Not every await of the upgrade looks at the signal */
  async #upgrade (maConn: SocketConnection, options: TCPDialOptions): Promise<Connection> {
    const { signal, upgrader } = options

    return raceSignal(upgrader.upgradeOutbound(maConn, options), signal, {
      translateError: () => abortError(signal)
    })
  }

  /**
   * @throws {InvalidParametersError} if `closeServerOnMaxConnections` contradicts itself
   */
  createListener (options: TCPCreateListenerOptions): Listener {
    const { backlog, closeServerOnMaxConnections, inboundSocketInactivityTimeout, listenOpts, maxConnections } = this.#options

    return new TCPListener({
      upgrader: options.upgrader,
      socketOptions: mergeListenOptions(listenOpts, options),
      inactivityTimeout: inboundSocketInactivityTimeout,
      maxConnections,
      backlog,
      closeServerOnMaxConnections,
      closeTimeout: this.#closeTimeout,
      stalledWriteTimeout: this.#stalledWriteTimeout,
      lingering: this.#lingering,
      sockets: this.#sockets,
      metrics: this.#components.metrics,
      logger: this.#logger
    })
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
    return this.listenFilter(multiaddrs)
  }
}

/** Those that are set, as Node's timers can count them */
function timeoutsOf (options: TCPOptions): TCPOptions {
  const timeouts: TCPOptions = {}

  for (const name of TIMEOUTS) {
    const ms = options[name]

    if (ms == null) {
      continue
    }

    if (typeof ms !== 'number' || !(ms >= 0)) {
      throw new InvalidParametersError(`${name} must be a number of milliseconds from 0 on, not ${ms}`)
    }

    timeouts[name] = Math.min(ms, MAX_TIMEOUT)
  }

  return timeouts
}

/** The same with and without a peer id */
function refusalKey (ma: Multiaddr): string {
  return endpointName(toEndpoint(ma))
}
