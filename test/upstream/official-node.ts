import { createLibp2p } from 'libp2p'
import { stack } from '../lab/stacks.ts'
import type { Defer } from '../fixtures/cleanup.ts'
import type { Libp2p } from '@libp2p/interface'
import type { Libp2pOptions } from 'libp2p'

/** A node that listens, with nothing of ours */
export async function officialNode (defer: Defer, options: Libp2pOptions = {}): Promise<Libp2p> {
  const node = await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    ...stack('official'),
    ...options
  })

  defer(async () => node.stop())

  return node
}
