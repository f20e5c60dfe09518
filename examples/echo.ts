/* eslint-disable no-console */
/*
 * Two nodes: one echoes, the other one says hello to it.
 *
 *   npm run example examples/echo.ts
 */
import { noise } from '@libp2p/noise'
import { createLibp2p } from 'libp2p'
import { optimistic, tcp, yamux } from 'libp2p-fast-tcp'
import type { Libp2p } from '@libp2p/interface'

const ECHO = '/echo/1.0.0'

async function createNode (listen: string[] = []): Promise<Libp2p> {
  return createLibp2p({
    addresses: { listen },
    transports: [tcp()],
    connectionEncrypters: [optimistic(noise())],
    streamMuxers: [yamux()]
  })
}

const listener = await createNode(['/ip4/127.0.0.1/tcp/0'])
const dialer = await createNode()

await listener.handle(ECHO, async stream => {
  for await (const data of stream) {
    if (!stream.send(data)) {
      await stream.onDrain()
    }
  }

  await stream.close()
})

// we know that this peer speaks the protocol, so there is nothing to wait for
const stream = await dialer.dialProtocol(listener.getMultiaddrs(), ECHO, { negotiateFully: false })

stream.send(new TextEncoder().encode('hello'))
await stream.close()

for await (const data of stream) {
  console.log('echoed: %s', new TextDecoder().decode(data.subarray()))
}

await dialer.stop()
await listener.stop()
