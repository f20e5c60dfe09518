import net from 'node:net'
import type { Address } from '../link/link.ts'

const PATTERN = /^\/(?:ip4|ip6|dns|dns4|dns6)\/([^/]+)\/tcp\/(\d+)/

/** The multiaddr of a TCP port, and of a peer if one is given. */
export function multiaddrOf ({ host, port }: Address, peerId?: string): string {
  const family = net.isIP(host) === 0 ? 'dns' : `ip${net.isIP(host)}`

  return `/${family}/${host}/tcp/${port}${peerId == null ? '' : `/p2p/${peerId}`}`
}

export function addressOf (multiaddr: string): Address {
  const match = PATTERN.exec(multiaddr)

  if (match == null) {
    throw new Error(`Not the multiaddr of a TCP port: ${multiaddr}`)
  }

  return { host: match[1], port: Number(match[2]) }
}

export function atAddress (multiaddr: string, address: Address): string {
  return multiaddrOf(address) + multiaddr.replace(PATTERN, '')
}

/** The address alone: libp2p joins dials of one peer at the same time. */
export function withoutPeer (multiaddr: string): string {
  return multiaddrOf(addressOf(multiaddr))
}
