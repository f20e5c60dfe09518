/* eslint-disable no-console */
/*
 * A node that has moved from `@libp2p/tcp`, beside one that has not. The two dial each
 * other and need not know.
 *
 *   npm run example examples/migrate.ts
 */
import { noise } from '@libp2p/noise'
import { ping } from '@libp2p/ping'
import { tcp as officialTcp } from '@libp2p/tcp'
import { yamux as stockYamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { optimistic, tcp, yamux } from 'libp2p-fast-tcp'

const addresses = { listen: ['/ip4/127.0.0.1/tcp/0'] }
const services = { ping: ping() }

const before = await createLibp2p({
  addresses,
  services,
  transports: [
    officialTcp({ inboundSocketInactivityTimeout: 60_000, dialOpts: { keepAlive: true } })
  ],
  connectionEncrypters: [noise()],
  streamMuxers: [stockYamux()]
})

const after = await createLibp2p({
  addresses,
  services,
  transports: [
    // the same options; this alone saves a round trip on every dial
    tcp({ inboundSocketInactivityTimeout: 60_000, dialOpts: { keepAlive: true } })
  ],
  // saves another one to peers that do not name their muxers, such as rust-libp2p
  connectionEncrypters: [optimistic(noise())],
  // saves one on every stream to a peer that is known to speak the protocol
  streamMuxers: [yamux()]
})

async function dial (name: string, from: typeof before, to: typeof before): Promise<void> {
  const connection = await from.dial(to.getMultiaddrs())
  await from.services.ping.ping(to.peerId)

  console.log('%s: %s, %s, ping answered', name, connection.encryption, connection.multiplexer)
  await connection.close()
}

await dial('after dials before', after, before)
await dial('before dials after', before, after)

await after.stop()
await before.stop()
