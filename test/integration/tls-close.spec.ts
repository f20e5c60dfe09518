import { tls } from '@libp2p/tls'
import { yamux } from '@libp2p/yamux'
import { expect } from 'aegir/chai'
import { optimistic } from '../../src/index.ts'
import { KiB, MiB, payload, tally, readToEnd } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { tcp } from '../fixtures/transport.ts'
import { within } from '../fixtures/waiting.ts'
import { bareNode } from '../negotiation/fixtures/stacks.ts'
import type { Tally } from '../fixtures/bytes.ts'
import type { Libp2pOptions } from 'libp2p'

const SINK = '/test/sink/1.0.0'

/** TLS is Node's, which writes a piece a turn of the event loop */
const encrypters = {
  'tls()': tls(),
  'optimistic(tls())': optimistic(tls())
}

for (const [name, encrypter] of Object.entries(encrypters)) {
  describe(`fault 9: a connection with ${name} that is closed behind its last stream`, () => {
    const defer = cleanUpAfterEach()

    for (const [size, bytes] of Object.entries({ '1 KiB': KiB, '3 MiB': 3 * MiB })) {
      it(`loses nothing of ${size}`, async () => {
        const options: Libp2pOptions = { transports: [tcp()], connectionEncrypters: [encrypter], streamMuxers: [yamux()] }
        const listener = await bareNode(defer, { ...options, addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] } })
        const dialer = await bareNode(defer, options)
        const { promise, resolve } = Promise.withResolvers<Tally>()
        await listener.handle(SINK, async stream => { resolve(await readToEnd(stream)) })

        const connection = await dialer.dial(listener.getMultiaddrs())
        const stream = await connection.newStream(SINK)
        const data = payload(bytes)
        stream.send(data)
        await stream.close()
        await connection.close()

        expect(await within(5_000, 'reading to the end', promise)).to.deep.equal(tally(data))
      })
    }
  })
}
