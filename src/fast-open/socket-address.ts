import os from 'node:os'
import { multiaddr } from '@multiformats/multiaddr'
import { AF_INET, AF_INET6 } from './libc.ts'

/**
 * An IP address and a port as `struct sockaddr_in` or `sockaddr_in6`.
 *
 * @param host - an IPv6 address may have a zone: `fe80::1%eth0`
 */
export function socketAddress (host: string, port: number): { family: number, bytes: Uint8Array } {
  const [ip, zone] = host.split('%')
  const isIPv6 = ip.includes(':')
  const family = isIPv6 ? AF_INET6 : AF_INET
  const bytes = new Uint8Array(isIPv6 ? 28 : 16)
  const view = new DataView(bytes.buffer)

  // the family in the byte order of this machine, port and address in that of the network
  new Uint16Array(bytes.buffer, 0, 1)[0] = family
  view.setUint16(2, port)
  bytes.set(ipBytes(ip, isIPv6), isIPv6 ? 8 : 4)

  if (zone != null) {
    new Uint32Array(bytes.buffer, 24, 1)[0] = scopeId(zone)
  }

  return { family, bytes }
}

/** Behind the code of the protocol, which takes one byte, a multiaddr holds the address as it is */
function ipBytes (ip: string, isIPv6: boolean): Uint8Array {
  return multiaddr(`/${isIPv6 ? 'ip6' : 'ip4'}/${ip}`).bytes.subarray(1)
}

/** The number of an interface, by its name or as it is */
function scopeId (zone: string): number {
  // a global address of the interface has the scope 0
  const address = os.networkInterfaces()[zone]?.find(({ family, scopeid }) => family === 'IPv6' && scopeid !== 0)

  return address?.scopeid ?? Number(zone)
}
