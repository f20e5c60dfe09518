import net from 'node:net'
import { raceSignal } from 'race-signal'
import { endpointName } from '../addresses.ts'
import { aBoolean, checkOptions } from '../check-options.ts'
import { PlanError } from '../connector.ts'
import { ReusePortUnsupportedError, withCause } from '../errors.ts'
import { pluginFor } from '../plugin.ts'
import { chooseLocalAddress, mayServe, needsSource } from './local-port.ts'
import { observe } from './observe.ts'
import { SimultaneousOpen } from './simultaneous-open.ts'
import { sourceAddress } from './source-address.ts'
import type { ListeningAddress, LocalAddress } from './local-port.ts'
import type { Endpoint } from '../addresses.ts'
import type { Rule } from '../check-options.ts'
import type { BindServer, Connector, OpenSocket, PortUse } from '../connector.ts'
import type { ReusePort } from '../options.ts'
import type { SocketLayer } from '../plugin.ts'
import type { ListenOptions, Server, Socket } from 'node:net'

/** How long a dial waits for listeners that are about to listen, in ms. Only the look-up of a name takes that long */
const LISTEN_TIMEOUT = 1_000

/**
 * For this long after a peer's connection to a listening port has closed, no dial to the peer's
 * address leaves from that port, in ms. The peer's NAT may let such a dial in only because
 * the peer was the first to send, and AutoNAT would take the peer for reachable
 * (libp2p/specs#562). RFC 5382 (REQ-5) has NATs keep a closed connection for at least 4 minutes.
 */
const RECENT_PEER_TIMEOUT = 5 * 60_000

/** How many addresses of such peers are remembered. A new one replaces the oldest */
const RECENT_PEERS = 4_096

/** What libuv says of a system without SO_REUSEPORT, and a kernel that does not know it. Other errors, such as EMFILE, tell nothing of it */
const UNSUPPORTED = ['ENOTSUP', 'EOPNOTSUPP', 'ENOPROTOOPT', 'EINVAL']

/** Codes of a connection that exists already, or is in TIME_WAIT, or is one of the socket with itself */
const PORT_ERRORS = ['EADDRINUSE', 'EADDRNOTAVAIL', 'ESELFCONNECT']

export interface ReusePortInit {
  /**
   * Other processes of the same user may listen on the same port, if they have this option too: the kernel spreads connections over them.
   * Otherwise a listener fails with EADDRINUSE where another process has the port.
   *
   * @default false
   */
  shared?: boolean
}

const RULES: Record<keyof ReusePortInit, Rule> = { shared: aBoolean }

/**
 * Makes the value of the option `reusePort` of `tcp()`: dials leave from the port that a listener listens on. A dial for which that
 * is impossible leaves from any port. Needs `net.BoundSocket` (Node 24.21, 26.4) and SO_REUSEPORT (Linux, FreeBSD).
 *
 * @throws {InvalidParametersError} if an option has a wrong value, or none has this name
 * @throws {ReusePortUnsupportedError} if the runtime or the system cannot share a port. Where no descriptor or port is free to try that, the
 * first listener rejects with it
 */
export function reusePort (init?: ReusePortInit): ReusePort {
  checkOptions('reusePort()', init, RULES)
  checkSupport()

  return pluginFor('reusePort', ({ components, log, transport }, below) => {
    const ports = new ListeningPorts({
      below,
      isShared: init?.shared === true,
      onTaken: ({ host, port }, err) => { log('a dial cannot leave from %s:%d, it leaves from any port - %e', host, port, err) }
    })

    return {
      connector: ports.connector,
      bindServer: ports.bindServer,
      onListen: ports.waitFor,
      onDialed: observe({ components, log, transport }),
      ports: components.metrics?.registerCounterGroup('libp2p_tcp_dial_ports_total', {
        label: 'port',
        help: 'Total count of TCP sockets that were opened by the local port that they left from'
      })
    }
  })
}

/** Servers of this process that are about to listen on a port that they have to themselves. A probe does not see them */
const claims = new Map<Server, ListenOptions>()

const WILDCARDS = ['0.0.0.0', '::']

export interface ListeningPortsInit {
  below: SocketLayer

  /** Called when a dial cannot leave from the port that it should leave from */
  onTaken(local: LocalAddress, err: Error): void

  /** Whether other processes may listen on the same port */
  isShared?: boolean
}

/**
 * Lets servers share their port with dials, and dials leave from it. A NAT then maps
 * both to the same public port.
 */
export class ListeningPorts {
  /** Servers that listen, in the order in which they began to */
  readonly #servers = new Set<Server>()

  /** Listeners that are about to listen: settled when they do, or cannot */
  readonly #beginning = new Set<{ endpoint: Endpoint, settled: Promise<void> }>()

  /** What servers listen with. They have our event listeners already: a server that pauses or fails keeps them */
  readonly #options = new WeakMap<Server, ListenOptions>()

  /** Addresses whose peer has connected to a listening port, and when that ended (Infinity: still open). The oldest first */
  readonly #recent = new Map<string, number>()
  readonly #onTaken: (local: LocalAddress, err: Error) => void
  readonly #below: SocketLayer
  readonly #isShared: boolean

  /** Whether a port can be shared here, if that could be tried */
  #isSupported = false

  constructor ({ below, isShared = false, onTaken }: ListeningPortsInit) {
    this.#below = below
    this.#isShared = isShared
    this.#onTaken = onTaken
  }

  /** Makes a server listen on a port that dials can leave from */
  readonly bindServer: BindServer = (server, options) => {
    if (options.path != null) {
      server.listen(options)
      return
    }

    if (!this.#options.has(server)) {
      // nobody need close a server that could not listen
      server.on('listening', () => {
        claims.delete(server)
        this.#servers.add(server)
      })
      server.on('error', () => { claims.delete(server) })
      server.on('connection', socket => { this.#onConnection(socket) })
      server.on('close', () => {
        claims.delete(server)

        // a server that listens again after a pause also emits 'close': keep it
        if (!server.listening) {
          this.#servers.delete(server)
        }
      })
    }

    this.#options.set(server, options)

    this.#isSupported ||= checkSupport()

    // without SO_REUSEPORT a port that is taken makes the server fail, as without this option
    const isAlone = !this.#isShared && options.port !== 0
    const reusePort = !isAlone || !(isClaimed(options) || isTaken(options))

    if (isAlone && reusePort) {
      claims.set(server, options)
    }

    try {
      this.#below.bindServer(server, { ...options, reusePort, exclusive: true })
    } catch (err) {
      claims.delete(server)
      throw err
    }
  }

  /**
   * Dials wait for a listener that is about to listen, since they may leave from its port.
   * libp2p dials a relay that is named in its `listen` while the other listeners begin.
   */
  readonly waitFor = (endpoint: Endpoint, listening: Promise<void>): void => {
    const beginning = { endpoint, settled: listening.catch(() => {}).finally(() => { this.#beginning.delete(beginning) }) }
    this.#beginning.add(beginning)
  }

  /** Opens sockets from a listening port. Without a port that fits, a socket leaves from any */
  readonly connector: Connector = {
    open: async (target, options, signal, plan) => {
      const open = async (port: PortUse, local?: LocalAddress): Promise<OpenSocket> => {
        const where = local == null ? options : { ...options, localAddress: local.host, localPort: local.port, sharesPort: true }

        return { ...await this.#below.connector.open(target, where, signal, plan), port }
      }

      if (plan.port !== 'listening') {
        return open(plan.port === 'any' ? 'option' : 'taken')
      }

      if (options.localAddress != null || options.localPort != null) {
        return open('chosen')
      }

      const local = 'path' in target ? undefined : await this.#chooseLocal(target.host, signal)

      if ('path' in target || local == null) {
        return open('no-listener')
      }

      if (plan.isPortForced !== true && this.#isRecent(endpointName(target))) {
        return open('recent')
      }

      try {
        return { ...await open('reused', local), watch: inner => new SimultaneousOpen(inner) }
      } catch (err: any) {
        // the port is below 1,024, or the process of another user has taken it meanwhile
        if (err.syscall !== 'bind' && !PORT_ERRORS.includes(err.code)) {
          throw err
        }

        this.#onTaken(local, err)
        throw new PlanError('port-taken', `Port ${local.port} cannot be used for a dial`, err)
      }
    }
  }

  async #chooseLocal (target: string, signal: AbortSignal): Promise<LocalAddress | undefined> {
    await this.#begun(target, signal)

    const listening = this.#listening()
    const source = needsSource(listening, target) ? await sourceAddress(target, signal) : undefined

    return chooseLocalAddress(listening, target, source)
  }

  /** Those that may serve the target listen, or cannot, or take too long */
  async #begun (target: string, signal: AbortSignal): Promise<void> {
    const relevant = [...this.#beginning].filter(({ endpoint }) => mayServe(endpoint, target))

    if (relevant.length === 0) {
      return
    }

    const timeout = Promise.withResolvers<void>()
    const timer = setTimeout(timeout.resolve, LISTEN_TIMEOUT)

    try {
      await raceSignal(Promise.race([Promise.all(relevant.map(async ({ settled }) => settled)), timeout.promise]), signal, { translateError: () => signal.reason })
    } finally {
      clearTimeout(timer)
    }
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

    const key = endpointName({ host: remoteAddress.replace(/^::ffff:/i, ''), port: remotePort, family: 0 })
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

/**
 * @returns whether this system has SO_REUSEPORT; false if that could not be tried, since no descriptor or port is free
 * @throws {ReusePortUnsupportedError} if it has not
 */
function checkSupport (): boolean {
  if (typeof net.BoundSocket !== 'function') {
    throw new ReusePortUnsupportedError('The option reusePort needs net.BoundSocket: Node 24.21, 26.4, or later')
  }

  try {
    new net.BoundSocket({ host: '127.0.0.1', port: 0, reusePort: true }).close()

    return true
  } catch (err: any) {
    if (UNSUPPORTED.includes(err.code)) {
      throw withCause(new ReusePortUnsupportedError('The option reusePort needs SO_REUSEPORT, which this system does not have'), err)
    }

    return false
  }
}

/** Whether another server of this process is about to listen on the address */
function isClaimed ({ host = '', port }: ListenOptions): boolean {
  return [...claims.values()].some(({ host: other = '', ...options }) => options.port === port &&
    net.isIPv6(other) === net.isIPv6(host) && (other === host || [other, host].some(host => WILDCARDS.includes(host))))
}

/**
 * Whether another server listens on the address. Connections that left from its port, or are in TIME_WAIT, do not count: libuv sets
 * SO_REUSEADDR. Two processes that begin in the same millisecond may both find it free.
 */
function isTaken ({ host, port, ipv6Only }: ListenOptions): boolean {
  try {
    new net.BoundSocket({ host, port, ipv6Only }).close()

    return false
  } catch (err: any) {
    // of anything else the server fails by itself, with Node's error
    return err.code === 'EADDRINUSE'
  }
}
