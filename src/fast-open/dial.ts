import net from 'node:net'
import { connect, connectSocket } from '../dial/connect.ts'
import { RememberedAddresses } from '../dial/remembered-addresses.ts'
import { DeferredConnect } from './deferred-connect.ts'
import { AF_INET, AF_INET6, IPPROTO_IPV6, IPPROTO_TCP, IPV6_V6ONLY, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM, SOL_SOCKET, SO_REUSEPORT, TCP_FASTOPEN_CONNECT, TCP_INFO } from './libc.ts'
import { readTcpInfo } from './tcp-info.ts'
import type { Libc } from './libc.ts'
import type { KernelState } from './tcp-info.ts'
import type { ConnectOptions, Connector, OpenSocket, Target } from '../connector.ts'
import type { NetConnectOpts, Socket } from 'node:net'

/** How much of `struct tcp_info` is read, in bytes */
const TCP_INFO_BYTES = 8

const NOTHING = new Uint8Array()

/**
 * Opens sockets whose SYN waits for the first write and carries it. An ordinary connector opens the others:
 * unix sockets, those to a host that lost a SYN with data within the hour, and all if the kernel refuses.
 */
export class FastOpenConnector implements Connector {
  readonly #libc: Libc
  readonly #ordinary: Connector

  /**
   * Hosts behind a middlebox that drops a SYN with data. The kernel sends the SYN again
   * without data after a second. By default it would lose that second at every dial
   * (`net.ipv4.tcp_fastopen_blackhole_timeout_sec` is 0).
   */
  readonly #blackHoles: RememberedAddresses

  constructor (libc: Libc, ordinary: Connector, blackHoles = new RememberedAddresses()) {
    this.#libc = libc
    this.#ordinary = ordinary
    this.#blackHoles = blackHoles
  }

  async open (target: Target, options: ConnectOptions, signal: AbortSignal): Promise<OpenSocket> {
    signal.throwIfAborted()

    const fd = 'path' in target || this.#blackHoles.age(target.host) != null ? undefined : this.#openDescriptor(target.host, options.sharesPort === true)

    if ('path' in target || fd == null) {
      return this.#ordinary.open(target, options, signal)
    }

    const socket = await connect(options => this.#connect(fd, options), target, options, signal)

    return {
      socket,
      established: new DeferredConnect({
        socket,
        target,
        ask: () => this.#ask(fd, socket, target.host),
        sendSyn: () => { this.#sendSyn(fd, socket) }
      })
    }
  }

  /** Use an `fd` only while its socket is open: after that the number may belong to another file */
  #ask (fd: number, socket: Socket, host: string): KernelState | undefined {
    const bytes = new Uint8Array(TCP_INFO_BYTES)

    if (socket.destroyed || this.#libc.getOption(fd, IPPROTO_TCP, TCP_INFO, bytes) < TCP_INFO_BYTES) {
      return
    }

    const known = readTcpInfo(bytes)

    if (known.outcome === 'retransmitted') {
      this.#blackHoles.add(host)
    }

    return known
  }

  /**
   * An empty write by Node would send the SYN too, but the kernel answers EINPROGRESS to it, which libuv
   * takes for an error.
   */
  #sendSyn (fd: number, socket: Socket): void {
    if (!socket.destroyed) {
      this.#libc.send(fd, NOTHING)
    }
  }

  #openDescriptor (host: string, sharesPort: boolean): number | undefined {
    const isIPv6 = host.includes(':')
    const fd = this.#libc.socket(isIPv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)

    if (fd < 0) {
      // an ordinary connect meets the same error, and reports it as Node does
      return
    }

    const options = [
      [IPPROTO_TCP, TCP_FASTOPEN_CONNECT],
      ...sharesPort ? [[SOL_SOCKET, SO_REUSEPORT]] : [],
      // another socket may have the same port of the other family
      ...sharesPort && isIPv6 ? [[IPPROTO_IPV6, IPV6_V6ONLY]] : []
    ]

    if (options.some(([level, name]) => this.#libc.setOption(fd, level, name, 1) < 0)) {
      this.#libc.close(fd)
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
      this.#libc.close(fd)
      throw err
    }

    return connectSocket(socket, options)
  }
}
