import net from 'node:net'
import { connectSocket } from '../dial/net-connect.ts'
import { RememberedAddresses } from '../dial/remembered-addresses.ts'
import { AF_INET, AF_INET6, IPPROTO_IPV6, IPPROTO_TCP, IPV6_V6ONLY, SOCK_CLOEXEC, SOCK_NONBLOCK, SOCK_STREAM, SOL_SOCKET, SO_REUSEPORT, TCP_FASTOPEN_CONNECT, TCP_INFO } from './libc.ts'
import { readTcpInfo } from './tcp-info.ts'
import type { Libc } from './libc.ts'
import type { DeferredConnect, FastOpenSocketOptions } from '../options.ts'
import type { Socket, TcpNetConnectOpts } from 'node:net'

/** How much of `struct tcp_info` is read, in bytes */
const TCP_INFO_BYTES = 8

const NOTHING = new Uint8Array()

/**
 * Opens sockets whose SYN waits for the first write and carries it.
 */
export class FastOpenDialer {
  readonly #libc: Libc

  /** Use an `fd` only while its socket is open: after that the number may belong to another file */
  readonly #descriptors = new WeakMap<Socket, { fd: number, host: string }>()

  /**
   * Hosts behind a middlebox that drops a SYN with data. The kernel sends the SYN again
   * without data after a second. By default it would lose that second at every dial
   * (`net.ipv4.tcp_fastopen_blackhole_timeout_sec` is 0).
   */
  readonly #blackHoles = new RememberedAddresses()

  constructor (libc: Libc) {
    this.#libc = libc
  }

  /**
   * In place of `net.connect`.
   *
   * @returns undefined where Fast Open cannot be used: for unix sockets, for names, for a host
   * that lost a SYN with data within the hour, and where the kernel refuses
   */
  open (options: FastOpenSocketOptions): Socket | undefined {
    if ('path' in options || options.host == null || net.isIP(options.host) === 0 || this.#blackHoles.age(options.host) != null) {
      return
    }

    const fd = this.#openDescriptor(options.host, options.reusePort === true)

    return fd == null ? undefined : this.#connect(fd, options.host, options)
  }

  /** The state of a connection as the kernel knows it. Undefined if the socket was not opened here, or is closed */
  look (socket: Socket): DeferredConnect | undefined {
    const descriptor = this.#descriptors.get(socket)

    if (descriptor == null || socket.destroyed) {
      return
    }

    const bytes = new Uint8Array(TCP_INFO_BYTES)

    if (this.#libc.getOption(descriptor.fd, IPPROTO_TCP, TCP_INFO, bytes) < TCP_INFO_BYTES) {
      return
    }

    const info = readTcpInfo(bytes)

    if (info.outcome === 'retransmitted') {
      this.#blackHoles.add(descriptor.host)
    }

    return info
  }

  /**
   * Sends a SYN that still waits for data, without data. An empty write by Node would do so
   * too, but the kernel answers EINPROGRESS to it, which libuv takes for an error.
   */
  sendSyn (socket: Socket): void {
    const descriptor = this.#descriptors.get(socket)

    if (descriptor != null && !socket.destroyed) {
      this.#libc.send(descriptor.fd, NOTHING)
    }
  }

  #openDescriptor (host: string, reusePort: boolean): number | undefined {
    const isIPv6 = host.includes(':')
    const fd = this.#libc.socket(isIPv6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)

    if (fd < 0) {
      // an ordinary connect meets the same error, and reports it as Node does
      return
    }

    const options = [
      [IPPROTO_TCP, TCP_FASTOPEN_CONNECT],
      ...reusePort ? [[SOL_SOCKET, SO_REUSEPORT]] : [],
      // another socket may have the same port of the other family
      ...reusePort && isIPv6 ? [[IPPROTO_IPV6, IPV6_V6ONLY]] : []
    ]

    if (options.some(([level, name]) => this.#libc.setOption(fd, level, name, 1) < 0)) {
      this.#libc.close(fd)
      return
    }

    return fd
  }

  #connect (fd: number, host: string, options: TcpNetConnectOpts): Socket {
    let socket: Socket

    try {
      socket = new net.Socket({ ...options, fd, readable: true, writable: true })
    } catch (err) {
      // Node does not own the descriptor yet
      this.#libc.close(fd)
      throw err
    }

    this.#descriptors.set(socket, { fd, host })

    return connectSocket(socket, options)
  }
}
