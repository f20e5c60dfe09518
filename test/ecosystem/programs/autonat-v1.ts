import { autoNAT } from '@libp2p/autonat'
import { identify } from '@libp2p/identify'
import { deadline } from './lab.ts'
import { addressOf, addressesOf } from './public-addresses.ts'
import type { Facts, Lab } from './lab.ts'

const SERVERS = 4

/** More than any answer takes, in ms */
const PATIENCE = 3_000

/** The first version of AutoNAT takes the connection that it has for the one that it should make */
export default async function run (lab: Lab): Promise<Facts> {
  const create = async (i: number): ReturnType<Lab['node']> => lab.node({
    addresses: { listen: [`/ip4/${addressOf(i)}/tcp/0`] },
    tcp: { dialOpts: { localAddress: addressOf(i) } },
    services: { identify: identify(), autoNAT: autoNAT() }
  })
  const [node, ...servers] = await Promise.all(Array.from({ length: SERVERS + 1 }, async (_, i) => create(i)))

  await lab.measure(async () => {
    for (const server of servers) {
      await node.dial(addressesOf(server), { signal: deadline(60_000) })
    }
  })

  await new Promise(resolve => { setTimeout(resolve, PATIENCE) })

  return { verified: node.getMultiaddrs().length }
}
