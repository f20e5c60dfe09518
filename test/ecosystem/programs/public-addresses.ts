import { multiaddr } from '@multiformats/multiaddr'
import type { Multiaddr } from '@multiformats/multiaddr'

/** An address of the network namespace that the runner makes, each of another network */
export function addressOf (i: number): string {
  return `8.${i}.0.1`
}

/** What a node listens on, whether it knows that it can be reached there or not */
export function addressesOf (node: any): Multiaddr[] {
  return node.components.transportManager.getAddrs().map((ma: Multiaddr) => multiaddr(`${ma}/p2p/${node.peerId}`))
}
