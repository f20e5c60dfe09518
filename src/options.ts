import type { TCPDialEvents } from './dial-events.ts'
import type { CreateListenerOptions, DialTransportOptions } from '@libp2p/interface'
import type { LookupFunction } from 'node:net'

export interface CloseServerOnMaxConnectionsOpts {
  /**
   * The server listens again once its connection count is less than this
   */
  listenBelow: number

  /**
   * The server stops listening once its connection count is greater than or
   * equal to this; must not be less than `listenBelow`
   */
  closeAbove: number

  /**
   * Called whenever the server could not listen again, because another process
   * took the port while it was free. The server tries again whenever a connection
   * closes, and once a second.
   */
  onListenError?(err: Error): void
}

/**
 * Options for every socket, dialed or accepted
 */
export interface TCPSocketOptions {
  /**
   * Send every segment at once instead of waiting for the acknowledgement of
   * the one before (Nagle's algorithm).
   *
   * @default true
   * @see https://nodejs.org/api/net.html#socketsetnodelaynodelay
   */
  noDelay?: boolean

  /**
   * Let the kernel probe idle connections, so that a peer that vanished is noticed.
   *
   * @default true
   * @see https://nodejs.org/api/net.html#socketsetkeepaliveenable-initialdelay
   */
  keepAlive?: boolean

  /**
   * After how much idle time the first keep-alive probe is sent, in ms. `linux()` has a
   * `keepAliveDelay` in place of it, and says how often probes follow.
   *
   * @default the kernel's (two hours on Linux)
   */
  keepAliveInitialDelay?: number

  /**
   * What to do when the peer sends FIN. `false`: send what `send` has accepted,
   * then close. `true`: stay writable until `close()` is called.
   *
   * @default false
   */
  allowHalfOpen?: boolean
}

/**
 * Options for servers and the sockets that they accept. Everything else in `listenOpts` that
 * `net.Server.listen` takes is passed on to it, except the host, port and path, which are the
 * multiaddr's, and `fd`, `signal`, `handle` and `pauseOnConnect`, which are ignored.
 *
 * @see https://nodejs.org/api/net.html#serverlistenoptions-callback
 */
export interface TCPListenSocketOptions extends TCPSocketOptions {
  /**
   * Whether `/ip6` and `/dns6` addresses take IPv6 connections only. `false`
   * makes `/ip6/::` take IPv4 connections too.
   *
   * @default true
   */
  ipv6Only?: boolean
}

/**
 * Options for dialed sockets. Everything else in `dialOpts` that `net.connect` takes is
 * passed on to it, except the host, port and path, which are the multiaddr's,
 * the signal, which is the dial's, and `fd`, `handle` and `onread`, which are ignored.
 *
 * @see https://nodejs.org/api/net.html#socketconnectoptions-connectlistener
 */
export interface TCPDialSocketOptions extends TCPSocketOptions {
  /** The local address to connect from. By default the kernel chooses */
  localAddress?: string

  /** The local port to connect from. By default the kernel chooses, or with `reusePort` the transport */
  localPort?: number

  /**
   * The address family to use for names that have both (`/dns`). `/dns4`,
   * `/dns6`, `/ip4` and `/ip6` name theirs.
   *
   * @default 0, either
   */
  family?: 0 | 4 | 6

  /** Flags for the DNS look-up, as `dns.lookup` takes them. None by default */
  hints?: number

  /** A DNS look-up function to use in place of `dns.lookup` */
  lookup?: LookupFunction

  /** Whether to try all addresses of a name in turn (RFC 8305), or only the first. By default as Node does */
  autoSelectFamily?: boolean

  /** How long an address may be silent before the next one is tried too, in ms, 10 or more (less counts as 10). By default as Node does: 250, or what `--network-family-autoselection-attempt-timeout` says */
  autoSelectFamilyAttemptTimeout?: number

  /**
   * Fail with a `TimeoutError` if it takes longer than this until the connection is established, in ms: DNS look-ups, and with
   * `reusePort` the wait for listeners that are about to listen, included. By default only the dial's signal ends it
   */
  timeout?: number
}

export interface TCPOptions {
  /**
   * Abort an accepted connection that neither sends nor receives for this long, in ms, with
   * a `TimeoutError`; 0 for never.
   *
   * @default 120_000
   */
  inboundSocketInactivityTimeout?: number

  /**
   * Abort a dialed connection that neither sends nor receives for this long, in ms, with a
   * `TimeoutError`; 0 for never.
   *
   * @default 120_000
   */
  outboundSocketInactivityTimeout?: number

  /**
   * Drop incoming connections while a listener has this many.
   *
   * @default undefined, no limit
   * @see https://nodejs.org/api/net.html#servermaxconnections
   */
  maxConnections?: number

  /**
   * How many connections the kernel queues until they are accepted.
   *
   * @default 511
   * @see https://nodejs.org/api/net.html#serverlisten
   */
  backlog?: number

  /**
   * Stop listening while a listener has too many connections
   *
   * @default undefined, never
   */
  closeServerOnMaxConnections?: CloseServerOnMaxConnectionsOpts

  /**
   * How long `close()` waits for the peer's FIN once everything that was sent
   * and our own FIN have been handed to the kernel, in ms. After that the socket
   * waits in the background, until 30 s have passed, the peer has sent nothing for
   * 5 s, or 1,000 newer ones wait. With 0 `close()` does not wait, which saves a
   * round trip. But if the process ends right after it, a peer that was still
   * sending may lose what it has not read.
   *
   * @default 250
   */
  closeTimeout?: number

  /**
   * Abort a connection whose peer reads nothing of what waits to be sent to it for
   * this long, in ms, with a `TCPStalledWriteError`, even if the peer goes on
   * sending; 0 for never. A slow reader is left alone as long as it takes 4 MiB in
   * this time: the kernel may take so much before it says that there is room again.
   *
   * @default 120_000
   */
  stalledWriteTimeout?: number

  /**
   * Save a round trip on every dial: send the first message of the security
   * handshake together with the proposal of the encrypter, instead of waiting
   * for the answer to the proposal. A peer that refuses is dialed once more
   * and negotiated with in full.
   *
   * @default true
   */
  optimistic?: boolean

  /**
   * How long a dial waits for a connection to one address of a peer until it dials the next one
   * too, in ms, from 10 on (RFC 8305 calls it the Connection Attempt Delay). `false` leaves it to
   * libp2p, which dials one address after another.
   *
   * @default 250
   */
  attemptDelay?: number | false

  /**
   * Dial from the port that a listener listens on, as `reusePort()` of `libp2p-fast-tcp/nat` makes it. A NAT then maps both to the same
   * public port: other peers observe an address at which this one may be
   * reached, and hole punching can work. docs/nat.md explains it.
   *
   * @default undefined, off
   */
  reusePort?: ReusePort

  /**
   * What Linux offers and Node has no API for, as `linux()` of `libp2p-fast-tcp/linux` makes
   * it: TCP Fast Open, a low-water mark for unsent data, congestion control, timeouts and
   * metrics of the kernel. docs/linux.md explains each.
   *
   * @default undefined, off
   */
  linux?: Linux

  /**
   * Options for every dialed socket
   */
  dialOpts?: TCPDialSocketOptions

  /**
   * Options for every server and the sockets that it accepts
   */
  listenOpts?: TCPListenSocketOptions
}

/** What `reusePort()` of `libp2p-fast-tcp/nat` returns, for the option `reusePort` */
export interface ReusePort {
  readonly option: 'reusePort'
}

/** What `linux()` of `libp2p-fast-tcp/linux` returns, for the option `linux` */
export interface Linux {
  readonly option: 'linux'
}

/**
 * Options of one dial. `node.dial` and `node.dialProtocol` pass on `signal` and `onProgress` only: libp2p's dial queue
 * drops all others. They reach the transport from `transportManager.dial(ma, { signal, ...options })`, which is a
 * component that libp2p passes to services.
 */
export interface TCPDialOptions extends DialTransportOptions<TCPDialEvents>, TCPDialSocketOptions {
  /**
   * For a transport with the option `reusePort`. With `false` this dial leaves from any port.
   * By default it leaves from a listening port, unless the peer at this address is connected
   * to that port, or was in the last five minutes. The peer's NAT may let such a dial in, and
   * AutoNAT would take the peer for reachable. `true`, which hole punching needs, ignores that.
   */
  reusePort?: boolean

  /**
   * `false` lets the peer begin to negotiate, because it dials us at the same time. The
   * connection then has `direction: 'inbound'`, for encrypters and muxers too.
   *
   * @default true
   */
  initiator?: boolean
}

/**
 * Options of one listener. Only a direct call of `transport.createListener` can pass them: libp2p passes none
 */
export interface TCPCreateListenerOptions extends CreateListenerOptions, TCPListenSocketOptions {

}
