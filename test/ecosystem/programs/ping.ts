import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import type { Facts, Lab } from './lab.ts'

/**
 * Pings one behind another, each a stream; a second peer of the same node at the same time. libp2p allows one stream of ping for a
 * connection, and its connection monitor would take it every ten seconds.
 */
export default async function run (lab: Lab): Promise<Facts> {
  const services = { identify: identify(), ping: ping() }
  const [dialer, ...listeners] = await Promise.all([0, 1, 2].map(async () => lab.node({ services, connectionMonitor: { enabled: false } })))
  const count = lab.amount(1_000, 100)
  let answered = 0

  await lab.measure(async () => {
    await Promise.all(listeners.map(async listener => {
      const connection = await dialer.dial(listener.getMultiaddrs())

      for (let i = 0; i < count; i++) {
        const ms = await dialer.services.ping.ping(connection.remotePeer)
        answered += ms >= 0 ? 1 : 0
      }
    }))
  })

  return { answered, connections: dialer.getConnections().length }
}
