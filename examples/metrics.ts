/* eslint-disable no-console */
/*
 * A node that counts what its transport does, and on Linux what the kernel knows of its connections. It dials a node of libp2p's own twice,
 * and an address at which nobody listens, and prints the metrics as Prometheus reads
 * them.
 *
 *   npm run example examples/metrics.ts
 */
import { noise } from '@libp2p/noise'
import { ping } from '@libp2p/ping'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { tcp as officialTcp } from '@libp2p/tcp'
import { yamux as stockYamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { optimistic, tcp, yamux } from 'libp2p-fast-tcp'
import { linux } from 'libp2p-fast-tcp/linux'
import { Registry } from 'prom-client'

const registry = new Registry()

const peer = await createLibp2p({
  addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
  transports: [officialTcp()],
  connectionEncrypters: [noise()],
  streamMuxers: [stockYamux()],
  services: { ping: ping() }
})

const node = await createLibp2p({
  transports: [tcp({ linux: kernel() })],
  connectionEncrypters: [optimistic(noise())],
  streamMuxers: [yamux()],
  services: { ping: ping() },
  metrics: prometheusMetrics({ registry })
})

// the first ping negotiates its protocol in full; the second one knows that the peer speaks it
await node.services.ping.ping(peer.getMultiaddrs())
await node.services.ping.ping(peer.peerId)

await node.dial(multiaddr('/ip4/127.0.0.1/tcp/1')).catch((err: Error) => {
  console.log('# the dial failed, as it should: %s', err.message)
})

// a scrape is what asks the kernel
await registry.metrics()

const names = ['libp2p_tcp_dialer_events_total', 'libp2p_tcp_optimistic_dials_total', 'libp2p_optimistic_streams_total', 'libp2p_tcp_sockets', 'libp2p_tcp_bytes_total', 'libp2p_tcp_round_trip_seconds']

for (const name of names) {
  if (registry.getSingleMetric(name) != null) {
    console.log(await registry.getSingleMetricAsString(name))
  }
}

await node.stop()
await peer.stop()

/** What the kernel knows of each connection; undefined outside Linux, and without koffi or `node:ffi` */
function kernel (): ReturnType<typeof linux> | undefined {
  try {
    return linux()
  } catch (err: any) {
    console.log('# no metrics of the kernel: %s', err.message)
  }
}
