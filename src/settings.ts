import net from 'node:net'
import { InvalidParametersError } from '@libp2p/interface'
import { MAX_TIMEOUT, aBoolean, aFunction, aNumber, aWholeNumber, anObject, checkOption, checkOptions, milliseconds, oneOf } from './check-options.ts'
import { CLOSE_TIMEOUT } from './connection/fin-wait.ts'
import { isPluginFor } from './plugin.ts'
import type { Rule } from './check-options.ts'
import type { CloseServerOnMaxConnectionsOpts, TCPDialSocketOptions, TCPListenSocketOptions, TCPOptions, TCPSocketOptions } from './options.ts'

/** Close a socket that neither sends nor receives for this long, in ms: `@libp2p/tcp`'s two minutes. */
const INACTIVITY_TIMEOUT = 2 * 60_000

/**
 * Abort a connection whose peer reads nothing of what waits to be sent to it for
 * this long, in ms: as long as a connection may be idle.
 */
const STALLED_WRITE_TIMEOUT = INACTIVITY_TIMEOUT

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

const SOCKET_RULES: Record<keyof TCPSocketOptions, Rule> = {
  noDelay: aBoolean,
  keepAlive: aBoolean,
  keepAliveInitialDelay: milliseconds(0),
  allowHalfOpen: aBoolean
}

/** A single dial may override these */
const DIAL_RULES: Record<keyof TCPDialSocketOptions, Rule> = {
  ...SOCKET_RULES,
  localAddress: { mustBe: 'an IP address', holds: value => typeof value === 'string' && net.isIP(value) !== 0 },
  localPort: aWholeNumber(0, 65_535),
  // the names are Node's
  family: { ...oneOf(0, 4, 6, 'IPv4', 'IPv6'), mustBe: '0, 4 or 6' },
  hints: aWholeNumber(0),
  lookup: aFunction,
  autoSelectFamily: aBoolean,
  autoSelectFamilyAttemptTimeout: aWholeNumber(1),
  timeout: milliseconds(0)
}

/** A single listener may override these */
const LISTEN_RULES: Record<keyof TCPListenSocketOptions, Rule> = {
  ...SOCKET_RULES,
  ipv6Only: aBoolean
}

const LIMIT_RULES: Record<keyof CloseServerOnMaxConnectionsOpts, Rule> = {
  listenBelow: aLimit(),
  closeAbove: aLimit(),
  onListenError: aFunction
}

const RULES: Record<keyof TCPOptions, Rule> = {
  inboundSocketInactivityTimeout: milliseconds(0),
  outboundSocketInactivityTimeout: milliseconds(0),
  closeTimeout: milliseconds(0),
  stalledWriteTimeout: milliseconds(0),
  maxConnections: aNumber(0),
  backlog: aWholeNumber(0),
  closeServerOnMaxConnections: anObject(LIMIT_RULES),
  optimistic: aBoolean,
  attemptDelay: { mustBe: 'false or 10 or more milliseconds', holds: value => value === false || (typeof value === 'number' && value >= 10) },
  reusePort: { mustBe: 'what reusePort() of libp2p-fast-tcp/nat returns', holds: value => isPluginFor('reusePort', value) },
  linux: { mustBe: 'what linux() of libp2p-fast-tcp/linux returns', holds: value => isPluginFor('linux', value) },
  // Node knows more options of sockets and servers
  dialOpts: anObject(DIAL_RULES, 'open'),
  listenOpts: anObject(LISTEN_RULES, 'open')
}

/** `@libp2p/tcp` takes fractions and Infinity: programs compute their limits. Below 0 connections nothing listens again */
function aLimit (): Rule {
  return { mustBe: 'a number above 0', isRequired: true, holds: value => typeof value === 'number' && value > 0 }
}

/** The transport's options, checked, defaults included. No caller can change them any more */
export type TransportSettings = Readonly<TCPOptions & Timeouts>

/**
 * @throws {InvalidParametersError} if an option has a wrong value, or none has this name
 */
export function transportSettings (given?: TCPOptions | null): TransportSettings {
  checkOptions('tcp()', given, RULES)

  const options: TCPOptions = Object.fromEntries(Object.keys(RULES).map(name => [name, given?.[name as keyof TCPOptions] ?? undefined]))
  const timeouts: Timeouts = { ...TIMEOUTS }

  for (const name of Object.keys(TIMEOUTS) as Array<keyof Timeouts>) {
    timeouts[name] = Math.min(options[name] ?? TIMEOUTS[name], MAX_TIMEOUT)
  }

  return Object.freeze({
    ...options,
    ...timeouts,
    attemptDelay: typeof options.attemptDelay === 'number' ? Math.min(options.attemptDelay, MAX_TIMEOUT / 2) : options.attemptDelay,
    closeServerOnMaxConnections: limitSettings(options.closeServerOnMaxConnections),
    dialOpts: Object.freeze({ ...options.dialOpts }),
    listenOpts: Object.freeze({ ...options.listenOpts })
  })
}

/**
 * @throws {InvalidParametersError} if it listens again only when it should already have closed
 */
function limitSettings (limits?: CloseServerOnMaxConnectionsOpts): CloseServerOnMaxConnectionsOpts | undefined {
  if (limits == null) {
    return
  }

  const { closeAbove, listenBelow } = limits

  if (closeAbove < listenBelow) {
    throw new InvalidParametersError(`The option closeServerOnMaxConnections of tcp() must have a closeAbove >= listenBelow, not ${closeAbove} and ${listenBelow}`)
  }

  return Object.freeze({ closeAbove, listenBelow, onListenError: (err: Error) => { limits.onListenError?.(err) } })
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

export function listenerSettings (transport: TransportSettings, listener?: TCPListenSocketOptions): ListenerSettings {
  const { backlog, closeServerOnMaxConnections, maxConnections } = transport
  const socket = mergeListenOptions(transport.listenOpts, listener)

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

/** Names that are ignored in a caller's object: the multiaddr, the dial or this package decides about them */
const RESERVED = ['host', 'port', 'path', 'fd', 'signal', 'onread', 'handle', 'pauseOnConnect']

/**
 * @throws {InvalidParametersError} if `specific`, the options of one dial, have a wrong value
 */
export function mergeDialOptions (configured?: TCPDialSocketOptions, specific?: TCPDialSocketOptions): SocketOptions<TCPDialSocketOptions> {
  return merge('a dial', DIAL_RULES, configured, specific)
}

/**
 * @throws {InvalidParametersError} if `specific`, the options of one listener, have a wrong value
 */
export function mergeListenOptions (configured?: TCPListenSocketOptions, specific?: TCPListenSocketOptions): SocketOptions<TCPListenSocketOptions> {
  return merge('a listener', LISTEN_RULES, configured, specific)
}

/**
 * Merge defaults, the transport's options and those of one dial or listener
 * into a new frozen object. The callers' objects are only read; an option that
 * is undefined or null counts as absent.
 */
function merge <Options extends TCPSocketOptions> (of: string, rules: Record<keyof Options, Rule>, configured?: Options | null, specific?: Options | null): SocketOptions<Options> {
  const merged: Record<PropertyKey, unknown> = { ...SOCKET_DEFAULTS }

  for (const [key, value] of Object.entries(configured ?? {})) {
    if (value != null && !RESERVED.includes(key)) {
      merged[key] = value
    }
  }

  for (const name of Object.keys(rules) as Array<keyof Options & string>) {
    const value = specific?.[name]

    if (value != null) {
      checkOption(of, name, value, rules[name])
      merged[name] = value
    }
  }

  return Object.freeze(merged) as SocketOptions<Options>
}
