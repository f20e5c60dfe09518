import { execFileSync } from 'node:child_process'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { sha256 } from 'multiformats/hashes/sha2'
import { contentOf } from './content.ts'
import { dhtServices } from './dht.ts'
import { drain, some } from './events.ts'
import { deadline, until } from './lab.ts'
import { addressOf, addressesOf } from './public-addresses.ts'
import type { Facts, Lab } from './lab.ts'
import type { Libp2p } from '@libp2p/interface'
import type { KadDHT, SingleKadDHT } from '@libp2p/kad-dht'

const NODES = 12

/** So many of them die, and stay in the others' routing tables */
const GONE = 5

/** Of each node. Of those that live on, the first is silent too: they have moved */
const ADDRESSES = 3
const FIRST_PORT = 4_001

/** What libp2p and the DHT give up after, in ms, at their defaults: what is slower is not found */
const DEFAULTS = { dialTimeout: 10_000, addressDialTimeout: 6_000, inboundUpgradeTimeout: 10_000 }

/** Five of twelve servers die. The others provide and find, put and get, and find each other */
export default async function run (lab: Lab): Promise<Facts> {
  // nobody else is in the namespace. Public addresses that are not verified are told to nobody unless they are announced
  const listenOf = (node: number): string[] => Array.from({ length: ADDRESSES }, (_, i) => `/ip4/${addressOf(i)}/tcp/${FIRST_PORT + node}`)
  const nodes = await Promise.all(Array.from({ length: NODES }, async (_, i) => lab.node({ addresses: { listen: listenOf(i), announce: listenOf(i) }, services: dhtServices, connectionManager: DEFAULTS })))
  const survivors = nodes.slice(GONE)
  const rounds = lab.amount(2, 1)
  const found = { providers: 0, values: 0, peers: 0 }

  for (const [i, node] of nodes.entries()) {
    for (const other of nodes.slice(0, i)) {
      await node.dial(addressesOf(other), { signal: deadline(60_000) })
    }
  }

  await until(async () => (await Promise.all(nodes.map(async node => knowsAll(node, nodes)))).every(knowsAll => knowsAll))

  const silent = nodes.flatMap((_, i) => listenOf(i).slice(0, i < GONE ? ADDRESSES : 1))

  await Promise.all(nodes.slice(0, GONE).map(async node => node.stop()))
  await until(() => {
    // a DHT may dial by itself meanwhile
    survivors.forEach(node => { node.getConnections().forEach(connection => { connection.abort(new Error('moved')) }) })

    return survivors.every(node => node.getConnections().length === 0)
  })
  drop(silent)

  await lab.measure(async () => {
    for (let i = 0; i < rounds; i++) {
      const [one, other] = [survivors[2 * i], survivors[2 * i + 1]]
      const content = contentOf(i, 1_000)
      const cid = CID.createV1(raw.code, await sha256.digest(content))
      const key = new TextEncoder().encode(`/v/${i}`)
      const options = { signal: deadline(120_000) }

      found.peers += await holds(async () => (
        await some(one.services.dht.findPeer(other.peerId, options), event => event.name === 'FINAL_PEER') &&
        (await one.dial(other.peerId)).remotePeer.equals(other.peerId)
      ))

      await holds(async () => drain(one.services.dht.provide(cid, options)))
      found.providers += await holds(async () => some(other.services.dht.findProviders(cid, options), event => event.name === 'PROVIDER' && event.providers.some(({ id }) => id.equals(one.peerId))))

      await holds(async () => drain(one.services.dht.put(key, content, options)))
      found.values += await holds(async () => some(other.services.dht.get(key, options), event => event.name === 'VALUE'))
    }
  })

  return found
}

/** On a busy machine a peer may miss the ping that admits it to a routing table: it gets another one when it connects again */
async function knowsAll (node: Libp2p<{ dht: KadDHT }>, nodes: Libp2p[]): Promise<boolean> {
  const { routingTable } = node.services.dht as unknown as SingleKadDHT

  await until(() => routingTable.size === NODES - 1, 10_000).catch(async () => {
    for (const other of nodes.filter(other => other !== node)) {
      await node.hangUp(other.peerId)
      await node.dial(addressesOf(other), { signal: deadline(60_000) })
    }
  })

  return routingTable.size === NODES - 1
}

/** 1 if it does, 0 if it does not, or fails */
async function holds (doIt: () => Promise<boolean | void>): Promise<number> {
  try {
    return await doIt() === true ? 1 : 0
  } catch {
    return 0
  }
}

/** From now on packets to these addresses vanish. The runner makes a network namespace */
function drop (addresses: string[]): void {
  const endpoints = addresses.map(address => address.split('/')).map(([, , host, , port]) => `${host} . ${port}`)
  const commands = [
    'add table inet gone',
    'add chain inet gone input { type filter hook input priority 0; }',
    `add rule inet gone input ip daddr . tcp dport { ${endpoints.join(', ')} } drop`
  ]

  execFileSync('nft', [commands.join('; ')])
}
