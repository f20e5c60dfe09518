import { randomBytes } from 'node:crypto'
import path from 'node:path'
import { multiaddrOf } from '../../test/lab/peers/address.ts'
import { STACKS } from '../../test/lab/peers/stacks.ts'
import { importInstalled } from '../../test/lab/peers/versions.ts'
import { serve } from '../../test/lab/process/serve.ts'
import { packageRoot } from '../../test/lab/script-path.ts'

/** A Helia node: `helia-worker <stack>`, with what is installed for the suite ecosystem */

const HELIA_PACKAGES = path.join(packageRoot(), 'test', 'ecosystem')

const [name] = process.argv.slice(2) as [keyof typeof STACKS]

async function createHelia (listen: string[]): Promise<any> {
  const [{ withBitswap }, { withLibp2p }, { unixfs }, { identify }, { ping }, { MemoryBlockstore }, { MemoryDatastore }, { createHeliaLight }] = await Promise.all([
    '@helia/bitswap', '@helia/libp2p', '@helia/unixfs', '@libp2p/identify', '@libp2p/ping', 'blockstore-core', 'datastore-core', 'helia'
  ].map(async name => importInstalled(HELIA_PACKAGES, name)))
  const stack = await STACKS[name]()
  const helia = withBitswap(withLibp2p(createHeliaLight({ blockstore: new MemoryBlockstore(), datastore: new MemoryDatastore() }), {
    addresses: { listen },
    ...stack.options,
    peerDiscovery: [],
    services: { identify: identify(), ping: ping() }
  }))

  await helia.start()

  return { helia, fs: unixfs(helia), multiaddr: stack.multiaddr }
}

const tasks = {
  async provide (host: string, size: number): Promise<{ address: string, root: string }> {
    const { helia, fs } = await createHelia([multiaddrOf({ host, port: 0 })])
    const root = await fs.addBytes(randomBytes(size))

    return { address: `${helia.libp2p.getMultiaddrs()[0]}`, root: `${root}` }
  },

  /** In s */
  async fetch (address: string, root: string, patience: number): Promise<{ received: number, took: number, error?: string }> {
    const { helia, fs, multiaddr } = await createHelia([])
    const { CID } = await importInstalled(HELIA_PACKAGES, 'multiformats')
    const began = performance.now()
    let received = 0
    let error: string | undefined

    try {
      await helia.libp2p.dial(multiaddr(address))

      for await (const part of fs.cat(CID.parse(root), { signal: AbortSignal.timeout(patience) })) {
        received += part.byteLength
      }
    } catch (err: any) {
      error = `${err.name}: ${err.message}`
    }

    return { received, took: Math.round((performance.now() - began) / 100) / 10, error }
  }
}

export type HeliaTasks = typeof tasks

serve(tasks)
