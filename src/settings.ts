import { InvalidParametersError } from '@libp2p/interface'
import { CLOSE_TIMEOUT, INACTIVITY_TIMEOUT, MAX_TIMEOUT, STALLED_WRITE_TIMEOUT } from './constants.ts'
import type { TCPDialSocketOptions, TCPListenSocketOptions, TCPOptions, TCPSocketOptions } from './options.ts'

/** The options of one socket after the merge */
export type SocketOptions<Options extends TCPSocketOptions = TCPSocketOptions> =
  Readonly<Options & Required<Pick<TCPSocketOptions, 'noDelay' | 'keepAlive' | 'allowHalfOpen'>>>

const TIMEOUTS = {
  closeTimeout: CLOSE_TIMEOUT,
  inboundSocketInactivityTimeout: INACTIVITY_TIMEOUT,
  outboundSocketInactivityTimeout: INACTIVITY_TIMEOUT,
  stalledWriteTimeout: STALLED_WRITE_TIMEOUT
}

type Timeouts = Record<keyof typeof TIMEOUTS, number>

const SOCKET_DEFAULTS = {
  noDelay: true,
  keepAlive: true,
  allowHalfOpen: false
}

/** The transport's options with valid timeouts, defaults included. No caller can change them any more */
export type TransportSettings = Readonly<TCPOptions & Timeouts>

/**
 * @throws {InvalidParametersError} if a timeout is no number of ms from 0 on
 */
export function transportSettings (options: TCPOptions): TransportSettings {
  const timeouts: Timeouts = { ...TIMEOUTS }

  for (const name of Object.keys(TIMEOUTS) as Array<keyof Timeouts>) {
    const ms = options[name] ?? TIMEOUTS[name]

    if (typeof ms !== 'number' || !(ms >= 0)) {
      throw new InvalidParametersError(`${name} must be a number of milliseconds from 0 on, not ${ms}`)
    }

    timeouts[name] = Math.min(ms, MAX_TIMEOUT)
  }

  return Object.freeze({ ...options, ...timeouts })
}

/** The options of one connection, or of all that a listener accepts */
export interface ConnectionSettings {
  /** Abort it when it neither sends nor receives for this long, in ms; 0 for never */
  readonly inactivityTimeout: number

  /** How long `close()` waits for the peer's FIN, in ms */
  readonly closeTimeout: number

  /** Abort it when the peer reads nothing of what waits to be sent for this long, in ms; 0 for never */
  readonly stalledWriteTimeout: number

  /** Stay writable when the peer sends FIN, until `close()` is called */
  readonly allowHalfOpen: boolean
}

export interface DialSettings {
  readonly socket: SocketOptions<TCPDialSocketOptions>
  readonly connection: ConnectionSettings
}

export function dialSettings (transport: TransportSettings, dial?: TCPDialSocketOptions): DialSettings {
  const socket = mergeDialOptions(transport.dialOpts, dial)

  return {
    socket,
    connection: connectionSettings(transport, socket, transport.outboundSocketInactivityTimeout)
  }
}

export interface ListenerSettings extends Pick<TCPOptions, 'backlog' | 'closeServerOnMaxConnections' | 'maxConnections'> {
  readonly socket: SocketOptions<TCPListenSocketOptions>
  readonly connection: ConnectionSettings
}

/**
 * @throws {InvalidParametersError} if `closeServerOnMaxConnections` contradicts itself
 */
export function listenerSettings (transport: TransportSettings, listener?: TCPListenSocketOptions): ListenerSettings {
  const { backlog, closeServerOnMaxConnections, maxConnections } = transport
  const socket = mergeListenOptions(transport.listenOpts, listener)

  if (closeServerOnMaxConnections != null && closeServerOnMaxConnections.closeAbove < closeServerOnMaxConnections.listenBelow) {
    throw new InvalidParametersError('closeAbove must be >= listenBelow')
  }

  return {
    backlog,
    closeServerOnMaxConnections,
    maxConnections,
    socket,
    connection: connectionSettings(transport, socket, transport.inboundSocketInactivityTimeout)
  }
}

function connectionSettings ({ closeTimeout, stalledWriteTimeout }: TransportSettings, { allowHalfOpen }: SocketOptions, inactivityTimeout: number): ConnectionSettings {
  return { inactivityTimeout, closeTimeout, stalledWriteTimeout, allowHalfOpen }
}

const SOCKET_OPTIONS: ReadonlyArray<keyof TCPSocketOptions> = ['noDelay', 'keepAlive', 'keepAliveInitialDelay', 'allowHalfOpen']

/** A single dial may override these */
const DIAL_OPTIONS: ReadonlyArray<keyof TCPDialSocketOptions> = [
  ...SOCKET_OPTIONS, 'localAddress', 'localPort', 'family', 'hints', 'lookup', 'autoSelectFamily', 'autoSelectFamilyAttemptTimeout', 'timeout'
]

/** A single listener may override these */
const LISTEN_OPTIONS: ReadonlyArray<keyof TCPListenSocketOptions> = [...SOCKET_OPTIONS, 'ipv6Only']

/** Names that are ignored in a caller's object: the multiaddr, the dial or this package decides about them */
const RESERVED = ['host', 'port', 'path', 'fd', 'signal', 'onread', 'handle', 'pauseOnConnect']

export function mergeDialOptions (configured?: TCPDialSocketOptions, specific?: TCPDialSocketOptions): SocketOptions<TCPDialSocketOptions> {
  return merge(DIAL_OPTIONS, configured, specific)
}

export function mergeListenOptions (configured?: TCPListenSocketOptions, specific?: TCPListenSocketOptions): SocketOptions<TCPListenSocketOptions> {
  return merge(LISTEN_OPTIONS, configured, specific)
}

/**
 * Merge defaults, the transport's options and those of one dial or listener
 * into a new frozen object. The callers' objects are only read; an option that
 * is undefined or null counts as absent.
 */
function merge <Options extends TCPSocketOptions> (names: ReadonlyArray<keyof Options>, configured?: Options | null, specific?: Options | null): SocketOptions<Options> {
  const merged: Record<PropertyKey, unknown> = { ...SOCKET_DEFAULTS }

  for (const [key, value] of Object.entries(configured ?? {})) {
    if (value != null && !RESERVED.includes(key)) {
      merged[key] = value
    }
  }

  for (const name of names) {
    const value = specific?.[name]

    if (value != null) {
      merged[name] = value
    }
  }

  return Object.freeze(merged) as SocketOptions<Options>
}
