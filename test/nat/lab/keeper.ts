import { keep } from '../../lab/link/keep.ts'
import { makeNetwork, removeNetwork, removeStaleNetworks } from './network.ts'
import type { Network, NetworkShape } from './network.ts'
import type { Relay } from '../../lab/link/relay.ts'

/** A process that keeps a network. */

const cables: Relay[] = []

async function make (shape: NetworkShape, publicHosts: string[]): Promise<Network> {
  removeStaleNetworks()

  return makeNetwork(process.pid, shape, publicHosts, cables)
}

keep(make, async () => {
  await Promise.all(cables.map(async cable => cable.close()))
  removeNetwork(process.pid)
})

export type MakeNetwork = typeof make
