import { identify, identifyPush } from '@libp2p/identify'
import { pEvent } from 'p-event'
import { deadline } from './lab.ts'
import type { Facts, Lab } from './lab.ts'

const PEERS = 5

/** A node takes up and drops a protocol again and again; every peer must learn of each change */
export default async function run (lab: Lab): Promise<Facts> {
  const services = { identify: identify(), identifyPush: identifyPush() }
  const [node, ...peers] = await Promise.all(Array.from({ length: PEERS + 1 }, async () => lab.node({ services })))
  const rounds = lab.amount(10, 2)
  let learned = 0

  await Promise.all(peers.map(async peer => {
    const identified = pEvent(peer, 'peer:identify', { signal: deadline(60_000) })
    const known = pEvent(node, 'peer:identify', { signal: deadline(60_000), filter: ({ detail }: any) => detail.peerId.equals(peer.peerId) })
    await peer.dial(node.getMultiaddrs())
    await Promise.all([identified, known])
  }))

  await lab.measure(async () => {
    for (let round = 0; round < rounds; round++) {
      const protocol = `/ecosystem/${round}`
      const all = peers.map(async peer => pEvent(peer, 'peer:update', {
        signal: deadline(60_000),
        filter: ({ detail }: any) => detail.peer.id.equals(node.peerId) && detail.peer.protocols.includes(protocol)
      }))

      await node.handle(protocol, () => {})
      learned += (await Promise.all(all)).length
      await node.unhandle(protocol)
    }
  })

  return { learned, connections: node.getConnections().length }
}
