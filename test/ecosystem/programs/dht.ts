import { identify } from '@libp2p/identify'
import { kadDHT, passthroughMapper } from '@libp2p/kad-dht'
import { ping } from '@libp2p/ping'

/** Of a server in a DHT that takes any key and any value */
export const dhtServices = {
  identify: identify(),
  ping: ping(),
  dht: kadDHT({
    protocol: '/ecosystem/kad/1.0.0',
    peerInfoMapper: passthroughMapper,
    clientMode: false,
    allowQueryWithZeroPeers: true,
    validators: { v: () => {} },
    selectors: { v: () => 0 }
  })
}
