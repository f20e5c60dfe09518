/*
 * The hole punching test of unified-testing: a relay, and two ends behind routers that translate addresses. The dialer dials
 * the listener over the relay and waits for a direct connection.
 */
import { circuitRelayServer, circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { dcutr } from '@libp2p/dcutr'
import { identify, identifyPush } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { holePunching } from 'libp2p-fast-tcp'
import { pEvent } from 'p-event'
import { pingOver, printLatency } from './ping.ts'
import { Redis } from './redis.ts'
import { keyOf, needed, settings } from './settings.ts'
import { isOfficial, stack } from './stack.ts'
import type { Connection } from '@libp2p/interface'

const redis = new Redis(settings.redis)
const RELAY = keyOf('relay_multiaddr')
const LISTENER = keyOf('listener_peer_id')

if (process.env.RELAY_IP != null) {
  await relay(process.env.RELAY_IP)
} else {
  await end(needed(settings.isDialer ? 'DIALER_IP' : 'LISTENER_IP'))
}

async function relay (ip: string): Promise<void> {
  const listen = [`/ip4/${ip}/tcp/4001`]
  const node = await createLibp2p({
    ...await stack(),
    // nobody is there who could verify it
    addresses: { listen, announce: listen },
    services: { identify: identify(), relay: circuitRelayServer() }
  })

  await redis.command('SET', RELAY, `${listen[0]}/p2p/${node.peerId}`)
}

async function end (ip: string): Promise<void> {
  const { transports, ...rest } = await stack({ reusePort: true })
  const node = await createLibp2p({
    ...rest,
    addresses: { listen: [`/ip4/${ip}/tcp/0`, '/p2p-circuit'] },
    transports: [...transports, circuitRelayTransport()],
    services: { identify: identify(), identifyPush: identifyPush(), ping: ping(), dcutr: isOfficial ? dcutr() : holePunching(dcutr()) }
  })
  const signal = AbortSignal.timeout(settings.timeout)
  const relay = await value(RELAY)
  // the relay tells where it sees us
  const identified = pEvent(node, 'peer:identify', { signal })
  const reserved = pEvent(node, 'self:peer:update', { signal, filter: () => isReserved() })
  const isReserved = (): boolean => node.getMultiaddrs().some(address => address.toString().includes('/p2p-circuit'))

  await node.dial(multiaddr(relay), { signal })
  await identified
  await (isReserved() ? reserved.cancel() : reserved)

  if (!settings.isDialer) {
    await redis.command('SET', LISTENER, node.peerId.toString())
    return
  }

  const listener = await value(LISTENER)
  const direct = pEvent<'connection:open', CustomEvent<Connection>>(node, 'connection:open', {
    signal,
    filter: ({ detail: { limits, remotePeer } }) => limits == null && remotePeer.toString() === listener
  })
  const start = performance.now()

  await node.dial(multiaddr(`${relay}/p2p-circuit/p2p/${listener}`), { signal })

  const { detail: connection } = await direct
  const rtt = await pingOver(await connection.newStream('/ipfs/ping/1.0.0', { signal }), signal)

  printLatency({ total: performance.now() - start, ping: rtt })
  await node.stop()
  process.exit()
}

/** Of a key that another program sets */
async function value (key: string): Promise<string> {
  const deadline = performance.now() + settings.timeout

  while (performance.now() < deadline) {
    const found = await redis.command('GET', key)

    if (typeof found === 'string') {
      return found
    }

    await new Promise(resolve => { setTimeout(resolve, 100) })
  }

  throw new Error(`Nobody has set ${key}`)
}
