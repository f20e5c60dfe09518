import os from 'node:os'
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
  bytes.set(isIPv6 ? ip6Bytes(ip) : ip4Bytes(ip), isIPv6 ? 8 : 4)

  if (zone != null) {
    new Uint32Array(bytes.buffer, 24, 1)[0] = scopeId(zone)
  }

  return { family, bytes }
}

function ip4Bytes (ip: string): number[] {
  return ip.split('.').map(Number)
}

/** The caller knows that it is an IPv6 address: `::` stands for as many zeros as are missing */
function ip6Bytes (ip: string): number[] {
  const [head, tail = []] = ip.split('::').map(part => part === '' ? [] : part.split(':').flatMap(groupBytes))

  return [...head, ...new Array(16 - head.length - tail.length).fill(0), ...tail]
}

/** Two bytes; four if the address ends like one of IPv4 */
function groupBytes (group: string): number[] {
  const number = parseInt(group, 16)

  return group.includes('.') ? ip4Bytes(group) : [number >> 8, number & 0xff]
}

/** The number of an interface, by its name or as it is */
function scopeId (zone: string): number {
  // a global address of the interface has the scope 0
  const address = os.networkInterfaces()[zone]?.find(({ family, scopeid }) => family === 'IPv6' && scopeid !== 0)

  return address?.scopeid ?? Number(zone)
}
