import dns from 'node:dns'
import net from 'node:net'
import { raceSignal } from 'race-signal'
import { RECENT_PEERS, RECENT_PEER_TIMEOUT } from '../constants.ts'
import { ReusePortUnsupportedError, withCause } from '../errors.ts'
import { chooseLocalAddress, needsSource } from './local-port.ts'
import { sourceAddress } from './source-address.ts'
import type { OpenSocket } from './connect.ts'
import type { ListeningAddress, LocalAddress } from './local-port.ts'
import type { Endpoint } from '../addresses.ts'
import type { BindServer } from '../listener/pausable-server.ts'
import type { PortUse, SocketOptions, TCPDialSocketOptions } from '../options.ts'
import type { ListenOptions, NetConnectOpts, Server, Socket, TcpNetConnectOpts } from 'node:net'

export interface DialPort {
  readonly use: PortUse
  readonly openSocket: OpenSocket

  /** Another way to open the socket, if the error is the port's fault */
  reopen?(err: NodeJS.ErrnoException): OpenSocket | undefined
}

/** What the kernel says of a connection that is there already, or in TIME_WAIT, or that it has with itself */
const PORT_ERRORS = ['EADDRINUSE', 'EADDRNOTAVAIL', 'ESELFCONNECT']

/**
 * Lets servers share their port with dials, and dials leave from it. A NAT then maps
 * both to the same public port.
 */
export class ReusePort {
  /** With the options that they listen with, in the order in which they began to */
  readonly #servers = new Map<Server, ListenOptions>()

  /** Addresses whose peer has connected to a listening port, and when that ended: the oldest first */
  readonly #recent = new Map<string, number>()
  readonly #onTaken: (local: LocalAddress, err: Error) => void

  /**
   * `onTaken` is told when a dial cannot leave from a port that it should
   *
   * @throws {ReusePortUnsupportedError} if the runtime or the system cannot do that
   */
  constructor (onTaken: (local: LocalAddress, err: Error) => void) {
    this.#onTaken = onTaken
    assertSupported()
  }

  /** Has a server listen on a port that it shares */
  readonly bindServer: BindServer = (server, options) => {
    if (options.path != null) {
      server.listen(options)
      return
    }

    if (!this.#servers.has(server)) {
      server.on('connection', socket => { this.#onConnection(socket) })
      server.on('close', () => {
        // not of one that was paused while it had connections, and listens again
        if (!server.listening) {
          this.#servers.delete(server)
        }
      })
    }

    this.#servers.set(server, options)
    server.listen({ ...options, reusePort: true })
  }

  /** Where a dial leaves from. The signal ends look-ups, and the dial then notices it */
  async choose (endpoint: Endpoint, options: SocketOptions<TCPDialSocketOptions>, reuse: boolean | undefined, signal: AbortSignal): Promise<DialPort> {
    if (reuse === false) {
      return anyPort('option')
    }

    if (options.localAddress != null || options.localPort != null) {
      return anyPort('chosen')
    }

    const target = 'path' in endpoint ? undefined : await resolve(endpoint, options, signal)
    const local = target == null ? undefined : await this.#chooseLocal(target, signal)

    if (target == null || local == null) {
      return anyPort('no-listener')
    }

    if (reuse !== true && this.#isRecent(endpointKey(target, 'port' in endpoint ? endpoint.port : 0))) {
      return anyPort('recent')
    }

    return new ReusedPort(local, target, this.#onTaken)
  }

  async #chooseLocal (target: string, signal: AbortSignal): Promise<LocalAddress | undefined> {
    const listening = this.#listening()
    const source = needsSource(listening, target) ? await sourceAddress(target, signal) : undefined

    return chooseLocalAddress(listening, target, source)
  }

  /** A server that is paused or closed has no address */
  #listening (): ListeningAddress[] {
    return [...this.#servers].flatMap(([server, { ipv6Only = false }]) => {
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

  #remember (key: string, until: number): void {
    this.#recent.delete(key)
    this.#recent.set(key, until)

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

/** A dial from a listening port, or from any where that does not work */
class ReusedPort implements DialPort {
  readonly #local: LocalAddress
  readonly #target: string
  readonly #onTaken: (local: LocalAddress, err: Error) => void
  #use: PortUse = 'reused'

  constructor (local: LocalAddress, target: string, onTaken: (local: LocalAddress, err: Error) => void) {
    this.#local = local
    this.#target = target
    this.#onTaken = onTaken
  }

  get use (): PortUse {
    return this.#use
  }

  readonly openSocket: OpenSocket = options => {
    try {
      return openFrom(this.#local, { ...options as TcpNetConnectOpts, host: this.#target })
    } catch (err: any) {
      // one that another user's process has taken meanwhile, or below 1,024
      if (err.syscall !== 'bind') {
        throw err
      }

      return this.#fallBack(err)(options)
    }
  }

  reopen (err: NodeJS.ErrnoException): OpenSocket | undefined {
    return this.#use === 'reused' && PORT_ERRORS.includes(err.code ?? '') ? this.#fallBack(err) : undefined
  }

  #fallBack (err: Error): OpenSocket {
    this.#use = 'taken'
    this.#onTaken(this.#local, err)

    return net.connect
  }
}

function anyPort (use: PortUse): DialPort {
  return { use, openSocket: net.connect }
}

/** As `net.connect` */
function openFrom ({ host, port }: LocalAddress, options: TcpNetConnectOpts): Socket {
  const handle = new net.BoundSocket({ host, port, ipv6Only: net.isIPv6(host), reusePort: true })

  try {
    const socket = new net.Socket({ ...options, handle })

    if (options.timeout != null) {
      socket.setTimeout(options.timeout)
    }

    return socket.connect(options)
  } catch (err) {
    handle[Symbol.dispose]()
    throw err
  }
}

/**
 * The IP address that a dial goes to: the family and the scope have to be known before the
 * socket is bound. Undefined where Node chooses between addresses of both families, and
 * where the look-up fails, which the dial reports.
 */
async function resolve ({ host, family }: Exclude<Endpoint, { path: string }>, options: SocketOptions<TCPDialSocketOptions>, signal: AbortSignal): Promise<string | undefined> {
  if (net.isIP(host) !== 0) {
    return host
  }

  const lookup = options.lookup ?? dns.lookup
  const { promise, resolve, reject } = Promise.withResolvers<string[]>()

  try {
    lookup(host, { family: family !== 0 ? family : options.family ?? 0, hints: options.hints, all: true }, (err, found: unknown) => {
      if (err != null) {
        reject(err)
      } else {
        // a look-up of the caller's may not know `all`
        resolve(typeof found === 'string' ? [found] : (found as Array<{ address: string }>).map(({ address }) => address))
      }
    })

    const addresses = await raceSignal(promise, signal)

    return addresses.every(address => net.isIP(address) === net.isIP(addresses[0])) ? addresses[0] : undefined
  } catch {
    return undefined
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
