import { multiaddr } from '@multiformats/multiaddr'
import type { PeerId } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** How many addresses of one peer are dialed. The peer chooses them, and they may be anybody's */
const MAX_DIALED = 8

/**
 * The addresses of this peer, each with the peer id: go-libp2p and rust-libp2p may leave it out. No names: a NAT lets in
 * what it has seen, which is an IP address, and nothing cancels the look-up of a name that the peer chose
 */
export function punchAddresses (peer: PeerId, targets: Multiaddr[]): Multiaddr[] {
  const addresses = targets.flatMap(target => {
    const components = target.getComponents()
    const id = components.findLast(({ name }) => name === 'p2p')?.value

    if (components[0]?.name.startsWith('dns')) {
      return []
    }

    if (id == null) {
      return [target.encapsulate(`/p2p/${peer}`)]
    }

    return id === peer.toString() ? [target] : []
  })

  return [...new Set(addresses.map(String))].slice(0, MAX_DIALED).map(address => multiaddr(address))
}
