import { circuitRelayServer, circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { identify } from '@libp2p/identify'
import { multiaddr } from '@multiformats/multiaddr'
import { pEvent } from 'p-event'
import { echoOver, handleEcho } from './echo.ts'
import { deadline } from './lab.ts'
import type { Facts, Lab } from './lab.ts'

/** A node that listens at a relay only, and one that reaches it there. Hole punching needs NATs: see test/nat */
export default async function run (lab: Lab): Promise<Facts> {
  const relay = await lab.node({ services: { identify: identify(), relay: circuitRelayServer({ reservations: { applyDefaultLimit: false } }) } })
  const [relayAddress] = relay.getMultiaddrs()
  const listener = await lab.node({
    addresses: { listen: [`${relayAddress}/p2p-circuit`] },
    transports: [circuitRelayTransport()],
    services: { identify: identify() }
  })
  const dialer = await lab.node({ addresses: { listen: [] }, transports: [circuitRelayTransport()], services: { identify: identify() } })
  let echoes = 0

  await handleEcho(listener)

  if (listener.getMultiaddrs().length === 0) {
    await pEvent(listener, 'self:peer:update', { signal: deadline(60_000), filter: () => listener.getMultiaddrs().length > 0 })
  }

  const hashes = new Set<string>()

  await lab.measure(async () => {
    for (let i = 0; i < lab.amount(20, 4); i++) {
      const connection = await dialer.dial(multiaddr(`${relayAddress}/p2p-circuit/p2p/${listener.peerId}`), { signal: deadline(60_000) })
      hashes.add(await echoOver(connection, i, i === 0 ? 4 * 1_048_576 : 10_000))
      echoes++
      await connection.close()
    }
  })

  return { echoes, hashes: hashes.size, reservations: relay.services.relay.reservations.size }
}
