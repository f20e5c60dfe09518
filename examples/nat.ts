/* eslint-disable no-console */
/*
 * A node as it is set up behind a NAT. It reserves a slot at a relay, which it dials from
 * the port that it listens on, so that the relay sees the port that the NAT maps. A peer
 * that knows only the relay reaches it. Where there are NATs, `holePunching` then opens a
 * direct connection; on one machine there is nothing to punch.
 *
 * Needs Node 24.21 or 26.4, on Linux or FreeBSD.
 *
 *   npm run example examples/nat.ts
 */
import { circuitRelayServer, circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { dcutr } from '@libp2p/dcutr'
import { identify, identifyPush } from '@libp2p/identify'
import { noise } from '@libp2p/noise'
import { ping } from '@libp2p/ping'
import { createLibp2p } from 'libp2p'
import { optimistic, tcp, yamux } from 'libp2p-fast-tcp'
import { holePunching, reusePort } from 'libp2p-fast-tcp/nat'

const stack = { connectionEncrypters: [optimistic(noise())], streamMuxers: [yamux()] }

const relay = await createLibp2p({
  ...stack,
  addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
  transports: [tcp()],
  services: { identify: identify(), relay: circuitRelayServer() }
})

// it has started when the relay has reserved a slot for it
const hidden = await createLibp2p({
  ...stack,
  addresses: { listen: ['/ip4/127.0.0.1/tcp/0', `${relay.getMultiaddrs()[0]}/p2p-circuit`] },
  transports: [tcp({ reusePort: reusePort() }), circuitRelayTransport()],
  services: { identify: identify(), identifyPush: identifyPush(), ping: ping(), dcutr: holePunching(dcutr()) }
})

const dialer = await createLibp2p({
  ...stack,
  transports: [tcp(), circuitRelayTransport()],
  services: { identify: identify(), ping: ping() }
})

const [own] = hidden.getMultiaddrs().map(ma => ma.toString()).filter(ma => !ma.includes('/p2p-circuit'))
const [seen] = relay.getConnections(hidden.peerId).map(connection => connection.remoteAddr.toString())
console.log('the relay sees the listening port: %s', own.startsWith(seen))

const relayed = hidden.getMultiaddrs().filter(ma => ma.toString().includes('/p2p-circuit'))
const connection = await dialer.dial(relayed)
console.log('reached through the relay: %s', connection.remoteAddr.toString().includes('/p2p-circuit'))

await dialer.services.ping.ping(hidden.peerId)
console.log('ping answered')

await Promise.all([dialer, hidden, relay].map(async node => node.stop()))
