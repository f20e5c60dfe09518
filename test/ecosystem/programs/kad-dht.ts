import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { sha256 } from 'multiformats/hashes/sha2'
import { contentOf, hashOf } from './content.ts'
import { dhtServices } from './dht.ts'
import { drain, some } from './events.ts'
import { deadline, until } from './lab.ts'
import type { Facts, Lab } from './lab.ts'
import type { SingleKadDHT } from '@libp2p/kad-dht'

const NODES = 12

/** Twelve servers: provide and find, put and get, find a peer */
export default async function run (lab: Lab): Promise<Facts> {
  const nodes = await Promise.all(Array.from({ length: NODES }, async () => lab.node({ services: dhtServices })))
  const rounds = lab.amount(20, 3)
  const hash = hashOf()
  const found = { providers: 0, values: 0, peers: 0 }

  await lab.measure(async () => {
    // whom a node does not know it can neither ask nor find
    for (const [i, node] of nodes.entries()) {
      await Promise.all(nodes.slice(0, i).map(async other => node.dial(other.getMultiaddrs(), { signal: deadline(60_000) })))
    }

    await until(() => nodes.every(({ services }) => (services.dht as unknown as SingleKadDHT).routingTable.size === NODES - 1))

    for (let i = 0; i < rounds; i++) {
      const [one, other] = [nodes[i % NODES], nodes[(i + NODES / 2) % NODES]]
      const content = contentOf(i, 1_000)
      const cid = CID.createV1(raw.code, await sha256.digest(content))
      const key = new TextEncoder().encode(`/v/${i}`)
      const options = { signal: deadline(60_000) }

      await drain(one.services.dht.provide(cid, options))

      if (await some(other.services.dht.findProviders(cid, options), event => event.name === 'PROVIDER' && event.providers.some(({ id }) => id.equals(one.peerId)))) {
        found.providers++
      }

      await drain(one.services.dht.put(key, content, options))

      await some(other.services.dht.get(key, options), event => {
        if (event.name === 'VALUE') {
          hash.update(event.value)
          found.values++
        }

        return event.name === 'VALUE'
      })

      if (await some(one.services.dht.findPeer(other.peerId, options), event => event.name === 'FINAL_PEER' && event.peer.id.equals(other.peerId))) {
        found.peers++
      }
    }
  })

  return { ...found, sha256: hash.digest('hex') }
}
