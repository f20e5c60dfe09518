import { withBitswap } from '@helia/bitswap'
import { withLibp2p } from '@helia/libp2p'
import { unixfs } from '@helia/unixfs'
import { identify, identifyPush } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { MemoryBlockstore } from 'blockstore-core'
import { MemoryDatastore } from 'datastore-core'
import { createHeliaLight } from 'helia'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { sha256 } from 'multiformats/hashes/sha2'
import { contentOf, hashOf } from './content.ts'
import { deadline } from './lab.ts'
import type { Facts, Lab } from './lab.ts'
import type { HeliaWithLibp2p } from '@helia/libp2p'

const BLOCKS = 500

/** Bitswap between two Helia nodes: 500 blocks asked for right after the dial, then a file, or a file first */
export default async function run (lab: Lab): Promise<Facts> {
  const provider = await createHelia(lab)
  const file = contentOf(-1, lab.amount(50, 4) * 1_048_576)
  const root = await unixfs(provider).addBytes(file)
  const blocks = await Promise.all(Array.from({ length: BLOCKS }, async (_, i) => {
    const content = contentOf(i, 4_096)
    const cid = CID.createV1(raw.code, await sha256.digest(content))
    await provider.blockstore.put(cid, content)

    return cid
  }))

  const blockHash = hashOf()
  const first = await createHelia(lab)

  await lab.measure(async () => {
    await first.libp2p.dial(provider.libp2p.getMultiaddrs())
    const signal = deadline(120_000)

    for (const content of await Promise.all(blocks.map(async cid => bytesOf(first.blockstore.get(cid, { signal }))))) {
      blockHash.update(content)
    }
  })

  const second = await createHelia(lab)
  const fileHash = hashOf()
  let bytes = 0

  await lab.measure(async () => {
    await second.libp2p.dial(provider.libp2p.getMultiaddrs())

    for await (const part of unixfs(second).cat(root, { signal: deadline(240_000) })) {
      fileHash.update(part)
      bytes += part.byteLength
    }
  })

  const facts = { blocks: blockHash.digest('hex'), bytes, file: fileHash.digest('hex') }

  if (facts.file !== hashOf(file).digest('hex')) {
    throw new Error('The file is another one')
  }

  return facts
}

/** Helia as it is, but with no peer, router or gateway outside of this process */
async function createHelia (lab: Lab): Promise<HeliaWithLibp2p<any>> {
  const helia = withBitswap(withLibp2p(createHeliaLight({
    blockstore: new MemoryBlockstore(),
    datastore: new MemoryDatastore()
  }), {
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    ...lab.stack(),
    peerDiscovery: [],
    services: { identify: identify(), identifyPush: identifyPush(), ping: ping() }
  }) as any)

  await helia.start()
  lab.defer(async () => helia.stop())

  return helia as any
}

async function bytesOf (block: any): Promise<Uint8Array> {
  const parts: Uint8Array[] = []

  for await (const part of await block instanceof Uint8Array ? [await block] : await block) {
    parts.push(part)
  }

  return Buffer.concat(parts)
}
