import net from 'node:net'
import { NotStartedError } from '@libp2p/interface'
import { CustomProgressEvent } from 'progress-events'
import { abortError } from '../errors.ts'
import { connect } from './connect.ts'
import { lateConnect } from './late-connect.ts'
import { orOrdinary } from './net-connect.ts'
import { resolveTarget } from './resolve-target.ts'
import type { LateConnect } from './late-connect.ts'
import type { DialPort, ReusePort } from './reuse-port.ts'
import type { Endpoint } from '../addresses.ts'
import type { OpenSockets } from '../connection/open-sockets.ts'
import type { FastOpen, PortUse, TCPDialOptions, TCPMetrics } from '../options.ts'
import type { DialSettings, TransportSettings } from '../settings.ts'
import type { Logger } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Socket } from 'node:net'

export interface SocketOpenerInit {
  settings: TransportSettings

  /** All sockets of the transport. Each new one is added */
  sockets: OpenSockets
  metrics?: TCPMetrics
  log: Logger

  /** Set only with `tcp({ reusePort: true })` */
  reusePort?: ReusePort
}

/** One dial: its target, its settings, and what ends it */
export interface Dial {
  ma: Multiaddr
  endpoint: Endpoint
  settings: DialSettings
  options: TCPDialOptions

  /** The transport stops: no more sockets are opened, and look-ups end */
  stopping: AbortSignal

  /** Whether Fast Open may be used, where the option `fastOpen` is set */
  maySynWait: boolean
}

/** An open socket, and how it was opened */
export interface Connected {
  socket: Socket

  /** With the option `reusePort` */
  port?: PortUse

  /** Exists where the peer has yet to answer the SYN */
  late?: LateConnect
}

/** For the log: ports that are not just any port */
const PORTS: Partial<Record<PortUse, string>> = { reused: 'a listening', chosen: 'the chosen' }

/**
 * Opens the socket of a dial: from which port, and with data in the SYN or without.
 */
export class SocketOpener {
  readonly #init: SocketOpenerInit

  /** Aborted when the transport stops; a new one serves the dials after that */
  #stopping = new AbortController()

  constructor (init: SocketOpenerInit) {
    this.#init = init
  }

  /** What a dial that begins now has to look at: {@link Dial.stopping} */
  get stopping (): AbortSignal {
    return this.#stopping.signal
  }

  /** A dial that is under way opens no socket from now on */
  stop (): void {
    this.#stopping.abort()
    this.#stopping = new AbortController()
  }

  /**
   * @throws {AbortError} if the signal fires
   * @throws {TCPConnectError} if the network refuses
   */
  async open (dial: Dial): Promise<Connected> {
    const { ma, endpoint, settings, options, stopping, maySynWait } = dial
    const { log, metrics, reusePort, sockets } = this.#init
    const { onProgress, signal } = options
    const fastOpen = maySynWait ? this.#init.settings.fastOpen : undefined
    const start = performance.now()

    if (signal.aborted) {
      throw abortError(signal)
    }

    onProgress?.(new CustomProgressEvent('tcp:open-connection'))

    const lookup = this.#lookUpSignal(dial)
    const port = await reusePort?.choose(endpoint, settings.socket, options.reusePort, lookup, fastOpen)
    // look a name up first: the socket has one address family
    const target = port == null && fastOpen != null ? await resolveTarget(endpoint, settings.socket, lookup) : undefined
    const socket = await connect(ma, settings.socket, {
      endpoint,
      signal,
      log,
      metrics: metrics?.events,
      openSocket: port?.openSocket ?? orOrdinary(fastOpen, target),
      isPending: socket => fastOpen?.look(socket)?.isPending === true,
      reopen: err => port?.reopen?.(err),
      onSocket: socket => {
        sockets.add(socket)

        // a progress handler or a look-up has stopped the transport, which did not know this socket yet
        if (stopping.aborted) {
          socket.destroy(new NotStartedError('The transport was stopped'))
        }
      }
    })

    try {
      return this.#connected(dial, socket, start, port, fastOpen)
    } catch (err: any) {
      // a logger, metrics or a progress handler that throws: nobody else knows the socket
      socket.destroy(err)
      throw err
    }
  }

  #connected ({ ma, endpoint, settings, options: { onProgress, signal } }: Dial, socket: Socket, start: number, port?: DialPort, fastOpen?: FastOpen): Connected {
    const { log, metrics } = this.#init

    if (port != null) {
      log('the dial to %a left from %s port: %s', ma, PORTS[port.use] ?? 'any', port.use)
      metrics?.ports?.increment({ [port.use]: true })
      onProgress?.(new CustomProgressEvent<PortUse>('tcp:local-port', port.use))
    }

    return {
      socket,
      port: port?.use,
      late: fastOpen == null ? undefined : lateConnect({ ma, endpoint, socket, signal, timeout: settings.socket.timeout, start, log, metrics, fastOpen })
    }
  }

  /** Only names are looked up. Node does so itself, unless the address is needed before there is a socket */
  #lookUpSignal ({ endpoint, options: { signal }, stopping }: Dial): AbortSignal {
    const { reusePort, settings } = this.#init
    const isName = !('path' in endpoint) && net.isIP(endpoint.host) === 0

    return isName && (reusePort != null || settings.fastOpen != null) ? AbortSignal.any([signal, stopping]) : signal
  }
}
