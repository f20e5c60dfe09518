import { autoNATv2 } from '@libp2p/autonat-v2'
import { identify } from '@libp2p/identify'
import { deadline, until } from './lab.ts'
import { addressOf, addressesOf } from './public-addresses.ts'
import type { Facts, Lab } from './lab.ts'

/** As many servers of other networks must have dialed an address before it counts as reachable */
const SERVERS = 4

/**
 * Servers dial back until a node knows that its address is a public one. AutoNAT
 * takes only public addresses: the runner makes a network namespace that has them.
 */
export default async function run (lab: Lab): Promise<Facts> {
  const create = async (i: number): ReturnType<Lab['node']> => lab.node({
    addresses: { listen: [`/ip4/${addressOf(i)}/tcp/0`] },
    // on one host, the source of a connection would be the address that it goes to
    tcp: { dialOpts: { localAddress: addressOf(i) } },
    services: { identify: identify(), autoNAT: autoNATv2() }
  })
  const [node, ...servers] = await Promise.all(Array.from({ length: SERVERS + 1 }, async (_, i) => create(i)))
  const before = node.getMultiaddrs().length

  await lab.measure(async () => {
    for (const server of servers) {
      await node.dial(addressesOf(server), { signal: deadline(60_000) })
    }

    await until(() => node.getMultiaddrs().length > 0)
  })

  return { before, after: node.getMultiaddrs().length }
}
