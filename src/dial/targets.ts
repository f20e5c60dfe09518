import dns from 'node:dns'
import net from 'node:net'
import os from 'node:os'
import { raceSignal } from 'race-signal'
import { lookUpBy, lookUps } from './look-ups.ts'
import type { Endpoint, HostEndpoint } from '../addresses.ts'
import type { Target } from '../connector.ts'
import type { TCPDialSocketOptions } from '../options.ts'
import type { LookupAllOptions } from 'node:dns'

/** Whether an endpoint is its only target: an IP address, or the path of a unix socket */
export function isTarget (endpoint: Endpoint): boolean {
  return 'path' in endpoint || net.isIP(endpoint.host) !== 0
}

/**
 * The targets that a name leads to, in the order in which they are tried: all of its addresses of
 * the family that is asked for, the two families in turn (RFC 8305). Names are looked up as Node does it.
 *
 * @throws {InvalidParametersError} if the `lookup` option throws
 * @throws {Error} what the look-up says, or the signal's reason
 */
export async function targetsOf (endpoint: HostEndpoint, options: Pick<TCPDialSocketOptions, 'family' | 'hints' | 'lookup' | 'autoSelectFamily'>, signal: AbortSignal): Promise<Target[]> {
  signal.throwIfAborted()

  const family = familyOf(endpoint, options)
  const addresses = await raceSignal(lookUp(endpoint.host, family, options, signal), signal, { translateError: () => signal.reason })
  const targets = inTurn(toTargets(addresses, endpoint, family))

  return options.autoSelectFamily ?? net.getDefaultAutoSelectFamily() ? targets : targets.slice(0, 1)
}

/** Node also takes its names of the families */
function familyOf (endpoint: HostEndpoint, { family = 0 }: { family?: number | string }): 0 | 4 | 6 {
  if (endpoint.family !== 0) {
    return endpoint.family
  }

  if (family === 4 || family === 'IPv4') {
    return 4
  }

  return family === 6 || family === 'IPv6' ? 6 : 0
}

async function lookUp (host: string, family: 0 | 4 | 6, { hints = 0, lookup }: Pick<TCPDialSocketOptions, 'hints' | 'lookup'>, signal: AbortSignal): Promise<unknown[]> {
  const all: LookupAllOptions = {
    family,
    // Node's own: only families of which this host has an address
    hints: family === 0 && hints === 0 && os.platform() !== 'win32' ? dns.ADDRCONFIG : hints,
    all: true
  }

  return lookup == null ? lookUps.find(host, all, signal) : lookUpBy(lookup, host, all)
}

function toTargets (addresses: unknown[], { host, port }: HostEndpoint, family: 0 | 4 | 6): HostEndpoint[] {
  const targets = [...new Set(addresses)]
    .filter(address => typeof address === 'string')
    .map(address => ({ host: address, port, family: net.isIP(address) as 0 | 4 | 6 }))
    .filter(target => target.family !== 0)

  if (targets.length === 0 && addresses.length > 0) {
    throw Object.assign(new TypeError(`Invalid IP address: ${String(addresses[0])}`), { code: 'ERR_INVALID_IP_ADDRESS', host, port })
  }

  const fitting = targets.filter(target => family === 0 || target.family === family)

  if (fitting.length === 0) {
    throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND', syscall: 'getaddrinfo', hostname: host })
  }

  return fitting
}

/** The family of the first address stays first */
function inTurn (targets: HostEndpoint[]): HostEndpoint[] {
  const first = targets.filter(({ family }) => family === targets[0].family)
  const others = targets.filter(({ family }) => family !== targets[0].family)

  return Array.from({ length: Math.max(first.length, others.length) }, (_, i) => [first[i], others[i]])
    .flat()
    .filter(target => target != null)
}
