import type { Endpoint } from './addresses.ts'
import type { WireFilter } from './connection/wire-filter.ts'
import type { ListenOptions, Server, Socket } from 'node:net'

/** An endpoint whose host is an IP address: names are looked up before a socket is opened */
export type Target = Endpoint

/** Everything else that `net.connect` takes is passed on to it, except a timeout and a signal */
export interface ConnectOptions {
  readonly noDelay?: boolean
  readonly localAddress?: string
  readonly localPort?: number

  /** The local address and port may be those of a server that listens */
  readonly sharesPort?: boolean
}

/**
 * Which port a socket leaves from, with the option `reusePort`
 *
 * - `listening`: a listening one, if one fits
 * - `any`: any, because the dial says so or the peer dialed too
 * - `taken`: any, because the listening one could not be used
 */
export type PortPlan = 'listening' | 'any' | 'taken'

/** How a socket is opened. What no plug-in does is ignored */
export interface ConnectPlan {
  readonly port: PortPlan

  /** A listening port also serves a dial to a peer that has just been connected to it */
  readonly isPortForced?: boolean

  /** Whether the SYN may wait for the first write and carry it */
  readonly fastOpen: boolean
}

/**
 * Opens sockets. The one place of a dial that knows how: plainly, from a listening port, with data in the SYN.
 * Those wrap each other.
 */
export interface Connector {
  /**
   * Connects. Nothing but a SYN goes to the peer. Whatever goes wrong, no socket is left.
   *
   * @throws {Error} what Node or the kernel says. A {@link PlanError}, if another plan may do better
   * @throws {InvalidParametersError} if Node does not take the options
   * @throws {AbortError} or what else is the signal's reason, if it fires
   */
  open(target: Target, options: ConnectOptions, signal: AbortSignal, plan: ConnectPlan): Promise<OpenSocket>
}

/**
 * Which port a dial leaves from, and why
 *
 * - `reused`: a listening one
 * - `option`: any, because the dial has `reusePort: false`
 * - `chosen`: the one that the options `localAddress` and `localPort` say
 * - `no-listener`: any, because no listener fits the target
 * - `recent`: any, because the peer at this address is connected to the listening port, or was
 * until at most five minutes ago
 * - `taken`: any, because the listening port could not be used
 */
export type PortUse = 'reused' | 'option' | 'chosen' | 'no-listener' | 'recent' | 'taken'

/** A socket that has emitted 'connect', and how it came about */
export interface OpenSocket {
  socket: Socket

  /** With the option `reusePort`: which port it left from */
  port?: PortUse

  /**
   * The peer may have dialed too, so that TCP made one connection of both dials: makes a filter that ends it with a {@link PlanError}
   * then. Such a dial must be made again
   */
  watch?(inner?: WireFilter): WireFilter

  /** With Fast Open: what is known of the peer's answer to the SYN */
  established?: Establishing
}

/**
 * What became of the data in the SYN of a dial:
 *
 * - `acknowledged`: the listener took it, which saved a round trip
 * - `no_cookie`: nothing was sent in the SYN: this host has no cookie of the listener's
 * yet, or the listener gives none
 * - `not_acknowledged`: the listener took the SYN only, and the data was sent again
 * - `retransmitted`: the SYN was lost, and came through without data a second later
 * - `no_data`: nothing was there to be sent
 */
export type FastOpenOutcome = 'acknowledged' | 'no_cookie' | 'not_acknowledged' | 'retransmitted' | 'no_data'

/**
 * - `pending`: the peer is not known to have answered the SYN
 * - `established`: it has answered
 * - `failed`: it has not, and there is an error
 */
export type EstablishingState = 'pending' | 'established' | 'failed'

/**
 * Wait this long for the first message of the handshake, in ms: TLS takes some time to make
 * a certificate. Then send the SYN or the proposal without it.
 */
export const FIRST_WRITE_TIMEOUT = 100

/** A connect whose SYN may wait for the first write and carry it */
export interface Establishing {
  /** As the kernel knows it now. Only `pending` changes */
  look(): EstablishingState

  /** What became of the data in the SYN. Set once the connection is established, if the kernel still knew it then */
  readonly outcome?: FastOpenOutcome

  /** Why it failed: the error that Node makes of a failed connect, or a {@link PlanError} */
  readonly error?: Error

  /** Resolves when the state is no longer `pending`. A SYN that still waits for data is sent without */
  settled(): Promise<void>

  /** Nobody wants to know any more */
  end(): void
}

/**
 * What a dial can do without, and must after this error
 *
 * - `port-taken`: the listening port could not be used
 * - `simultaneous-open`: the peer dialed too, and TCP made one connection of both dials
 * - `cookie-lost`: the kernel had a cookie for Fast Open when the socket connected, and has none at the first
 * write. It then sends the SYN without data and answers EINPROGRESS, which libuv takes for an error
 * - `refused`: the peer refused an optimistic negotiation
 */
export type PlanErrorReason = 'port-taken' | 'simultaneous-open' | 'cookie-lost' | 'refused'

/** An attempt failed, and another one may do better. The `cause` is what the dial rejects with if none may */
export class PlanError extends Error {
  static name = 'PlanError'
  name = 'PlanError'
  readonly reason: PlanErrorReason

  constructor (reason: PlanErrorReason, message: string, cause?: unknown) {
    super(message, { cause })

    this.reason = reason
  }
}

/** Makes a server listen, in place of `server.listen(options)` */
export type BindServer = (server: Server, options: ListenOptions) => void
