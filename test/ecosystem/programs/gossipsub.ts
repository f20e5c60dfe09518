import { gossipsub } from '@libp2p/gossipsub'
import { identify } from '@libp2p/identify'
import { contentOf, hashOf } from './content.ts'
import { deadline, until } from './lab.ts'
import type { Facts, Lab } from './lab.ts'

const NODES = 10
const TOPIC = 'ecosystem'

/** Twenty messages at a time */
export default async function run (lab: Lab): Promise<Facts> {
  return gossip(lab, 20)
}

/** Ten nodes, each dialed by three: every message of every node must reach the nine others, once */
export async function gossip (lab: Lab, atOnce: number): Promise<Facts> {
  const services = { identify: identify(), pubsub: gossipsub({ emitSelf: false, allowPublishToZeroTopicPeers: true }) }
  const nodes = await Promise.all(Array.from({ length: NODES }, async () => lab.node({ services })))
  const messages = lab.amount(1_000, 100)
  const received = nodes.map(() => new Map<string, number>())
  let delivered = 0
  let arrived = (): void => {}

  nodes.forEach((node, i) => {
    node.services.pubsub.addEventListener('message', ({ detail }) => {
      const hash = hashOf(detail.data).digest('hex')
      received[i].set(hash, (received[i].get(hash) ?? 0) + 1)
      delivered++
      arrived()
    })
    node.services.pubsub.subscribe(TOPIC)
  })

  const deliveries = async (count: number, signal = deadline(60_000)): Promise<void> => new Promise((resolve, reject) => {
    arrived = () => {
      if (delivered >= count) {
        resolve()
      }
    }

    signal.addEventListener('abort', () => { reject(new Error(`${delivered} of ${count} messages were delivered`)) })
    arrived()
  })

  await Promise.all(nodes.flatMap((node, i) => [1, 2, 4].map(async step => node.dial(nodes[(i + step) % NODES].getMultiaddrs(), { signal: deadline(60_000) }))))

  // with a mesh that both ends agree on nothing waits for the gossip of the next heartbeat
  const meshOf = (node: typeof nodes[0]): string[] => (node.services.pubsub as any).getMeshPeers(TOPIC)

  await until(() => nodes.every(node => meshOf(node).length >= 4 && nodes.every(other =>
    meshOf(node).includes(other.peerId.toString()) === meshOf(other).includes(node.peerId.toString()))))

  await lab.measure(async () => {
    for (let i = 0; i < messages; i += atOnce) {
      const count = Math.min(atOnce, messages - i)

      await Promise.all(Array.from({ length: count }, async (_, j) => nodes[(i + j) % NODES].services.pubsub.publish(TOPIC, contentOf(i + j, 1_024))))
      await deliveries((i + count) * (NODES - 1))
    }
  })

  return {
    delivered,
    distinct: received.reduce((sum, hashes) => sum + hashes.size, 0),
    twice: received.reduce((sum, hashes) => sum + [...hashes.values()].filter(count => count > 1).length, 0),
    sha256: hashOf(...[...new Set(received.flatMap(hashes => [...hashes.keys()]))].sort().map(hash => new TextEncoder().encode(hash))).digest('hex')
  }
}
