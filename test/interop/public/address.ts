import type { Libp2p } from '@libp2p/interface'

/** Where the other end reaches this one: nobody else reaches a loopback address, unless that is all there is */
export function addressOf (node: Pick<Libp2p, 'getMultiaddrs'>): string {
  const addresses = node.getMultiaddrs().map(String)

  return addresses.find(address => !address.startsWith('/ip4/127.')) ?? addresses[0]
}
