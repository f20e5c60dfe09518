import os from 'node:os'
import path from 'node:path'
import { InvalidParametersError } from '@libp2p/interface'
import { getNetConfig, ipPortToMultiaddr } from '@libp2p/utils'
import { CODE_IPCIDR, CODE_UNIX, multiaddr } from '@multiformats/multiaddr'
import { TCP, Unix } from '@multiformats/multiaddr-matcher'
import { printable } from './printable.ts'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Socket } from 'node:net'

/** Where a multiaddr says to connect or to listen: a path (unix socket, Windows pipe) or a host and a port. */
export type Endpoint = PathEndpoint | HostEndpoint

export interface PathEndpoint {
  path: string
}

export interface HostEndpoint {
  host: string
  port: number

  /** The only address family that the multiaddr admits, or 0 where it leaves the choice open (`/dns`) */
  family: 0 | 4 | 6
}

const FAMILIES: Record<string, HostEndpoint['family']> = {
  ip4: 4,
  ip6: 6,
  dns4: 4,
  dns6: 6
}

/** Whether this transport can dial and listen on an address: TCP or a unix socket, with or without a peer id behind it. */
export function isSupported (ma: Multiaddr): boolean {
  return (TCP.exactMatch(ma) && !isRange(ma)) || Unix.exactMatch(ma)
}

/** An address range (`/ipcidr`), which the matcher takes for one address */
function isRange (ma: Multiaddr): boolean {
  return ma.getComponents().some(({ code }) => code === CODE_IPCIDR)
}

export function isUnix (ma: Multiaddr): boolean {
  return Unix.matches(ma)
}

/**
 * @throws {InvalidParametersError} if the address is neither TCP nor a unix socket
 */
export function toEndpoint (ma: Multiaddr): Endpoint {
  if (Unix.exactMatch(ma)) {
    return { path: toPath(ma) }
  }

  const config = getNetConfig(ma)

  if (config.protocol !== 'tcp' || config.port == null) {
    throw new InvalidParametersError(printable(`Multiaddr ${ma} was not a TCP address`))
  }

  const zone = config.type === 'ip6' ? config.zone : undefined

  return {
    // Node takes the zone of a link-local address behind the host: fe80::1%eth0
    host: zone == null ? config.host : `${config.host}%${zone}`,
    port: config.port,
    family: FAMILIES[config.type] ?? 0
  }
}

function toPath (ma: Multiaddr): string {
  const value = ma.getComponents().find(component => component.code === CODE_UNIX)?.value

  if (value == null) {
    throw new InvalidParametersError(printable(`Multiaddr ${ma} was not a Unix address`))
  }

  return os.platform() === 'win32' ? path.join('\\\\.\\pipe\\', value) : value
}

/** `host:port` or the path, as it stands in log lines and error messages. */
export function endpointName (endpoint: Endpoint): string {
  return 'path' in endpoint ? endpoint.path : `${endpoint.host}:${endpoint.port}`
}

/**
 * The address of the peer at the other end of a TCP socket, or `undefined` if
 * the peer has gone already: Node asks the kernel, which then no longer knows.
 *
 * @see https://nodejs.org/api/net.html#socketremoteaddress
 */
export function remoteMultiaddr (socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): Multiaddr | undefined {
  const { remoteAddress, remotePort } = socket

  if (remoteAddress == null || remotePort == null) {
    return undefined
  }

  const [ip, zone] = remoteAddress.split('%')
  const address = ipPortToMultiaddr(ip, remotePort)

  return zone == null ? address : multiaddr(`/ip6zone/${zone}`).encapsulate(address)
}
