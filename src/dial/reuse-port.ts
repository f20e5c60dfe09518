import net from 'node:net'
import { raceSignal } from 'race-signal'
import { RECENT_PEERS, RECENT_PEER_TIMEOUT } from '../constants.ts'
import { ReusePortUnsupportedError, withCause } from '../errors.ts'
import { chooseLocalAddress, needsSource } from './local-port.ts'
import { connectSocket, orOrdinary } from './net-connect.ts'
import { resolveTarget } from './resolve-target.ts'
import { sourceAddress } from './source-address.ts'
import type { ListeningAddress, LocalAddress } from './local-port.ts'
import type { OpenSocket } from './net-connect.ts'
import type { Endpoint } from '../addresses.ts'
import type { BindServer } from '../listener/pausable-server.ts'
import type { FastOpen, PortUse, TCPDialSocketOptions } from '../options.ts'
import type { SocketOptions } from '../settings.ts'
import type { BoundSocket, ListenOptions, Server, Socket, TcpNetConnectOpts } from 'node:net'

export interface DialPort {
  readonly use: PortUse
  readonly openSocket: OpenSocket

  /** @returns another way to open the socket, if the port is the cause of the error */
  reopen?(err: NodeJS.ErrnoException): OpenSocket | undefined
}

/** Codes of a connection that exists already, or is in TIME_WAIT, or is one of the socket with itself */
const PORT_ERRORS = ['EADDRINUSE', 'EADDRNOTAVAIL', 'ESELFCONNECT']

/**
 * Lets servers share their port with dials, and dials leave from it. A NAT then maps
 * both to the same public port.
 */
export class ReusePort {
  /** Servers that listen, in the order in which they began to */
  readonly #servers = new Set<Server>()

  /** Listeners that are about to listen: settled when they do, or cannot */
  readonly #beginning = new Set<Promise<void>>()

  /** What servers listen with. They have our event listeners already: a server that pauses or fails keeps them */
  readonly #options = new WeakMap<Server, ListenOptions>()

  /** Addresses whose peer has connected to a listening port, and when that ended (Infinity: still open). The oldest first */
  readonly #recent = new Map<string, number>()
  readonly #onTaken: (local: LocalAddress, err: Error) => void
  readonly #fastOpen?: FastOpen

  /**
   * `onTaken` is called when a dial cannot leave from the port that it should leave from.
   * With `fastOpen` servers also take data in a SYN.
   *
   * @throws {ReusePortUnsupportedError} if the runtime or the system cannot share a port
   */
  constructor (onTaken: (local: LocalAddress, err: Error) => void, fastOpen?: FastOpen) {
    this.#onTaken = onTaken
    this.#fastOpen = fastOpen
    assertSupported()
  }

  /** Makes a server listen on a port that dials can leave from */
  readonly bindServer: BindServer = (server, options) => {
    if (options.path != null) {
      server.listen(options)
      return
    }

    if (!this.#options.has(server)) {
      // nobody need close a server that could not listen
      server.on('listening', () => { this.#servers.add(server) })
      server.on('connection', socket => { this.#onConnection(socket) })
      server.on('close', () => {
        // a server that listens again after a pause also emits 'close': keep it
        if (!server.listening) {
          this.#servers.delete(server)
        }
      })
    }

    this.#options.set(server, options)

    if (this.#fastOpen != null) {
      this.#fastOpen.bindServer(server, { ...options, reusePort: true })
    } else {
      server.listen({ ...options, reusePort: true })
    }
  }

  /**
   * Dials wait for a listener that is about to listen, since they may leave from its port.
   * libp2p dials a relay that is named in its `listen` while the other listeners begin.
   */
  readonly waitFor = (listening: Promise<void>): void => {
    const settled = listening.catch(() => {}).finally(() => { this.#beginning.delete(settled) })
    this.#beginning.add(settled)
  }

  /**
   * Chooses the port that a dial leaves from. The signal ends look-ups, and the wait for listeners
   * that are about to listen; the dial itself then fails by it. `fastOpen` is set if the SYN of the dial may carry data
   */
  async choose (endpoint: Endpoint, options: SocketOptions<TCPDialSocketOptions>, reuse: boolean | undefined, signal: AbortSignal, fastOpen?: FastOpen): Promise<DialPort> {
    const isFixed = reuse === false || options.localAddress != null || options.localPort != null
    const target = isFixed && fastOpen == null ? undefined : await resolveTarget(endpoint, options, signal)
    const openSocket = orOrdinary(fastOpen, target)

    if (isFixed) {
      return { use: reuse === false ? 'option' : 'chosen', openSocket }
    }

    const local = target == null ? undefined : await this.#chooseLocal(target, signal)

    if (target == null || local == null) {
      return { use: 'no-listener', openSocket }
    }

    if (reuse !== true && this.#isRecent(endpointKey(target, 'port' in endpoint ? endpoint.port : 0))) {
      return { use: 'recent', openSocket }
    }

    return new ReusedPort(local, target, this.#onTaken, fastOpen)
  }

  async #chooseLocal (target: string, signal: AbortSignal): Promise<LocalAddress | undefined> {
    await raceSignal(Promise.all(this.#beginning), signal).catch(() => {})

    const listening = this.#listening()
    const source = needsSource(listening, target) ? await sourceAddress(target, signal) : undefined

    return chooseLocalAddress(listening, target, source)
  }

  /** A server that is paused or closed has no address */
  #listening (): ListeningAddress[] {
    return [...this.#servers].flatMap(server => {
      const { ipv6Only = false } = this.#options.get(server) ?? {}
      const address = server.listening ? server.address() : null

      return address == null || typeof address === 'string' ? [] : [{ host: address.address, port: address.port, ipv6Only }]
    })
  }

  #onConnection (socket: Socket): void {
    const { remoteAddress, remotePort } = socket

    if (remoteAddress == null || remotePort == null) {
      return
    }

    const key = endpointKey(remoteAddress.replace(/^::ffff:/i, ''), remotePort)
    this.#remember(key, Infinity)
    socket.once('close', () => { this.#remember(key, performance.now()) })
  }

  #remember (key: string, endedAt: number): void {
    this.#recent.delete(key)
    this.#recent.set(key, endedAt)

    if (this.#recent.size > RECENT_PEERS) {
      const [oldest] = this.#recent.keys()
      this.#recent.delete(oldest)
    }
  }

  #isRecent (key: string): boolean {
    const ended = this.#recent.get(key)

    return ended != null && performance.now() - ended < RECENT_PEER_TIMEOUT
  }
}

/** A dial from a listening port, or from any if that does not work */
class ReusedPort implements DialPort {
  readonly #local: LocalAddress
  readonly #target: string
  readonly #onTaken: (local: LocalAddress, err: Error) => void
  readonly #fastOpen?: FastOpen
  #use: PortUse = 'reused'

  constructor (local: LocalAddress, target: string, onTaken: (local: LocalAddress, err: Error) => void, fastOpen?: FastOpen) {
    this.#local = local
    this.#fastOpen = fastOpen
    this.#target = target
    this.#onTaken = onTaken
  }

  get use (): PortUse {
    return this.#use
  }

  readonly openSocket: OpenSocket = options => {
    try {
      return openFrom(this.#local, { ...options as TcpNetConnectOpts, host: this.#target }, this.#fastOpen)
    } catch (err: any) {
      // the port is below 1,024, or the process of another user has taken it meanwhile
      if (err.syscall !== 'bind') {
        throw err
      }

      return this.#fallBack(err)(options)
    }
  }

  reopen (err: NodeJS.ErrnoException): OpenSocket | undefined {
    const isOfPort = err.syscall === 'bind' || PORT_ERRORS.includes(err.code ?? '')

    return this.#use === 'reused' && isOfPort ? this.#fallBack(err) : undefined
  }

  #fallBack (err: Error): OpenSocket {
    this.#use = 'taken'
    this.#onTaken(this.#local, err)

    return orOrdinary(this.#fastOpen)
  }
}

/** Like `net.connect`, from a local address */
function openFrom ({ host, port }: LocalAddress, options: TcpNetConnectOpts, fastOpen?: FastOpen): Socket {
  const fast = fastOpen?.openSocket({ ...options, localAddress: host, localPort: port, reusePort: true })

  if (fast != null) {
    return fast
  }

  const handle = new net.BoundSocket({ host, port, ipv6Only: net.isIPv6(host), reusePort: true })

  return connectSocket(wrap(handle, options), options)
}

/** From now on the socket owns the handle */
function wrap (handle: BoundSocket, options: TcpNetConnectOpts): Socket {
  try {
    return new net.Socket({ ...options, handle })
  } catch (err) {
    handle[Symbol.dispose]()
    throw err
  }
}

function endpointKey (host: string, port: number): string {
  return `${host}:${port}`
}

/**
 * @throws {ReusePortUnsupportedError}
 */
function assertSupported (): void {
  if (typeof net.BoundSocket !== 'function') {
    throw new ReusePortUnsupportedError('The option reusePort needs net.BoundSocket: Node 24.21, 26.4, or later')
  }

  try {
    new net.BoundSocket({ host: '127.0.0.1', port: 0, reusePort: true }).close()
  } catch (err: any) {
    // a system without IPv4 has SO_REUSEPORT all the same
    if (err.code !== 'EADDRNOTAVAIL' && err.code !== 'EAFNOSUPPORT') {
      throw withCause(new ReusePortUnsupportedError('The option reusePort needs SO_REUSEPORT, which this system does not have'), err)
    }
  }
}
