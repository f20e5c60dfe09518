import net from 'node:net'
import { connect, connectSocket } from '../dial/connect.ts'
import { FastOpenConnect } from './fast-open-connect.ts'
import { AF_INET, AF_INET6, IPPROTO_IPV6, IPPROTO_TCP, IPV6_V6ONLY, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM, SOL_SOCKET, SO_REUSEADDR, SO_REUSEPORT, TCP_INFO } from './libc.ts'
import { socketAddress } from './socket-address.ts'
import { FAST_OPEN_DIAL, setOptions } from './socket-options.ts'
import { STATE_BYTES, readKernelState } from './tcp-info.ts'
import type { Libc } from './libc.ts'
import type { SocketOption } from './socket-options.ts'
import type { KernelState } from './tcp-info.ts'
import type { ConnectOptions, ConnectPlan, Connector, OpenSocket, Target } from '../connector.ts'
import type { Recent } from '../recent.ts'
import type { NetConnectOpts, Socket } from 'node:net'

const NOTHING = new Uint8Array()

export interface LinuxConnectorInit {
  libc: Libc

  /** Opens unix sockets, and all if the kernel refuses */
  below: Connector

  /** Throws if the kernel does not know an option. When `linux()` was called it may have had no descriptor to find out */
  assertChecked(): void

  /** Of every socket */
  options: SocketOption[]

  /** Whether a SYN waits for the first write and carries it, where the plan of the dial allows that */
  hasFastOpen: boolean

  /**
   * Hosts behind a middlebox that drops a SYN with data. The kernel sends the SYN again
   * without data after a second. By default it would lose that second at every dial
   * (`net.ipv4.tcp_fastopen_blackhole_timeout_sec` is 0). Some drop all that comes after it, too, so that the dial fails:
   * the next one goes without.
   */
  blackHoles: Recent<true>

  /** Is told the descriptor of each socket. Use it only while the socket is open: after that the number may belong to another file */
  onOpen?(socket: Socket, fd: number): void
}

/**
 * Opens sockets with options that Node has no API for.
 */
export class LinuxConnector implements Connector {
  readonly #init: LinuxConnectorInit

  constructor (init: LinuxConnectorInit) {
    this.#init = init
  }

  async open (target: Target, options: ConnectOptions, signal: AbortSignal, plan: ConnectPlan): Promise<OpenSocket> {
    signal.throwIfAborted()
    this.#init.assertChecked()

    const synWaits = this.#init.hasFastOpen && plan.fastOpen && 'host' in target && this.#init.blackHoles.get(target.host) !== true
    const fd = 'host' in target ? this.#openDescriptor(target.host, synWaits, options) : undefined

    if ('path' in target || fd == null) {
      return this.#init.below.open(target, options, signal, plan)
    }

    // Node would bind it again
    const unbound = options.sharesPort === true ? { ...options, localAddress: undefined, localPort: undefined } : options
    const socket = await connect(options => this.#connect(fd, options), target, unbound, signal)

    return {
      socket,
      established: synWaits
        ? new FastOpenConnect({
          socket,
          target,
          ask: () => this.#ask(fd, socket, target.host),
          sendSyn: () => { this.#sendSyn(fd, socket) }
        })
        : undefined
    }
  }

  /** Use an `fd` only while its socket is open: after that the number may belong to another file */
  #ask (fd: number, socket: Socket, host: string): KernelState | undefined {
    const bytes = new Uint8Array(STATE_BYTES)

    if (socket.destroyed || this.#init.libc.getOption(fd, IPPROTO_TCP, TCP_INFO, bytes) < STATE_BYTES) {
      return
    }

    const known = readKernelState(bytes)

    if (known.outcome === 'retransmitted') {
      this.#init.blackHoles.set(host, true)
    }

    return known
  }

  /**
   * An empty write by Node would send the SYN too, but the kernel answers EINPROGRESS to it, which libuv
   * takes for an error.
   */
  #sendSyn (fd: number, socket: Socket): void {
    if (!socket.destroyed) {
      this.#init.libc.send(fd, NOTHING)
    }
  }

  #openDescriptor (host: string, synWaits: boolean, { localAddress, localPort = 0, sharesPort = false }: ConnectOptions): number | undefined {
    const { libc } = this.#init
    const isIPv6 = host.includes(':')
    const fd = libc.socket(isIPv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)

    if (fd < 0) {
      // an ordinary connect meets the same error, and reports it as Node does
      return
    }

    let result = setOptions(libc, fd, [
      ...synWaits ? [FAST_OPEN_DIAL] : [],
      ...this.#init.options,
      ...sharesPort ? [{ level: SOL_SOCKET, name: SO_REUSEADDR, value: 1 }, { level: SOL_SOCKET, name: SO_REUSEPORT, value: 1 }] : [],
      // another socket may have the same port of the other family
      ...sharesPort && isIPv6 ? [{ level: IPPROTO_IPV6, name: IPV6_V6ONLY, value: 1 }] : []
    ])

    // Node would take IPV6_V6ONLY away
    if (result >= 0 && sharesPort) {
      result = libc.bind(fd, socketAddress(localAddress ?? (isIPv6 ? '::' : '0.0.0.0'), localPort).bytes)
    }

    if (result < 0) {
      libc.close(fd)
      return
    }

    return fd
  }

  #connect (fd: number, options: NetConnectOpts): Socket {
    let socket: Socket

    try {
      socket = new net.Socket({ ...options, fd, readable: true, writable: true })
    } catch (err) {
      // Node does not own the descriptor yet
      this.#init.libc.close(fd)
      throw err
    }

    this.#init.onOpen?.(socket, fd)

    return connectSocket(socket, options)
  }
}
