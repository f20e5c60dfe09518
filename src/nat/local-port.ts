import net from 'node:net'
import type { Endpoint } from '../addresses.ts'

/** An address that one of our servers listens on */
export interface ListeningAddress {
  host: string
  port: number

  /** Of `::`: whether it takes IPv6 connections only */
  ipv6Only: boolean
}

/** Where a dial leaves from */
export interface LocalAddress {
  host: string
  port: number
}

const UNSPECIFIED = { 4: '0.0.0.0', 6: '::' }

/**
 * Choose the listening address that a dial to an IP address leaves from, by the rules
 * of go-libp2p (`p2p/net/reuseport/dialer.go`):
 *
 * 1. one that is the source address of the route to the target
 * 2. a loopback address, if the target is one
 * 3. a wildcard address
 *
 * Of several the one that has listened longest, so that all peers observe the same port.
 * Never one of the other family, and never a loopback address for another target.
 *
 * @param listening - the oldest first
 * @param target - an IP address
 * @param source - the source address of the route to the target, if it is known
 */
export function chooseLocalAddress (listening: Iterable<ListeningAddress>, target: string, source?: string): LocalAddress | undefined {
  const family = familyOf(target)

  if (family == null) {
    return
  }

  const candidates = [...listening].filter(address => serves(address, family))
  const chosen = candidates.find(({ host }) => host === source) ??
    (isLoopback(target) ? candidates.find(({ host }) => isLoopback(host)) : undefined) ??
    candidates.find(({ host }) => isUnspecified(host))

  // a server on `::` that takes IPv4 too has a port of both families
  return chosen == null ? undefined : { host: isUnspecified(chosen.host) ? UNSPECIFIED[family] : chosen.host, port: chosen.port }
}

/** Whether the choice depends on the route to the target */
export function needsSource (listening: Iterable<ListeningAddress>, target: string): boolean {
  const family = familyOf(target)

  return family != null && [...listening].some(address => serves(address, family) && !isUnspecified(address.host) && !isLoopback(address.host))
}

/**
 * Whether a server that is about to listen may get an address for a dial to an IP address. A name other than
 * `localhost` (RFC 6761) does not lead to loopback addresses.
 */
export function mayServe (endpoint: Endpoint, target: string): boolean {
  if ('path' in endpoint) {
    return false
  }

  const { family, host } = endpoint
  const targetFamily = familyOf(target)
  const isLocal = isLoopback(host) || /(^|\.)localhost\.?$/i.test(host)

  // a server on `::` may take IPv4 too
  return targetFamily != null && (family === 0 || family === targetFamily || host === UNSPECIFIED[6]) &&
    (isUnspecified(host) || isLocal === isLoopback(target))
}

function serves ({ host, ipv6Only }: ListeningAddress, family: 4 | 6): boolean {
  return net.isIP(host) === family || (family === 4 && host === UNSPECIFIED[6] && !ipv6Only)
}

/** Undefined for IPv4-mapped IPv6 addresses (`::ffff:1.2.3.4`), which a socket that is bound to IPv6 does not reach */
function familyOf (host: string): 4 | 6 | undefined {
  const family = net.isIP(host)

  return family === 0 || /^::ffff:/i.test(host) ? undefined : family as 4 | 6
}

function isLoopback (host: string): boolean {
  return host === '::1' || (net.isIPv4(host) && host.startsWith('127.'))
}

function isUnspecified (host: string): boolean {
  return host === UNSPECIFIED[4] || host === UNSPECIFIED[6]
}
