import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { readToEnd } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until } from '../fixtures/waiting.ts'
import { bareNode, stacks } from './fixtures/stacks.ts'
import type { StackName } from './fixtures/stacks.ts'
import type { Connection, Libp2p, StreamHandlerOptions } from '@libp2p/interface'
import type { Ping } from '@libp2p/ping'

const SINK = '/test/sink/1.0.0'

describe('code that opens one stream of a protocol after another', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()

  /** A dialer that knows what the listener speaks; `received` are the bytes of each stream */
  async function pair (stack: StackName, options?: StreamHandlerOptions): Promise<{ dialer: Libp2p<{ ping: Ping }>, connection: Connection, received: number[] }> {
    const services = { identify: identify(), ping: ping() }
    const received: number[] = []
    const listener = await bareNode(defer, { ...stacks['@libp2p/tcp 11'](), services, addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] } })

    await listener.handle(SINK, async stream => {
      received.push((await readToEnd(stream)).bytes)
      await stream.close()
    }, options)

    const dialer = await bareNode(defer, { ...stacks[stack](), services }) as Libp2p<{ ping: Ping }>
    const identified = pEvent(dialer, 'peer:identify')
    const connection = await dialer.dial(listener.getMultiaddrs())
    await identified

    return { dialer, connection, received }
  }

  for (const stack of ['@libp2p/tcp 11', 'tcp() alone', 'tcp() with both decorators'] as const) {
    it(`${stack}: pings twenty times, although one ping at a time is allowed`, async () => {
      const { dialer, connection } = await pair(stack)

      for (let i = 0; i < 20; i++) {
        expect(await dialer.services.ping.ping(connection.remotePeer)).to.be.at.least(0)
      }
    })

    it(`${stack}: opens and closes fifty streams where one is allowed`, async () => {
      const { connection } = await pair(stack)

      for (let i = 0; i < 50; i++) {
        const stream = await connection.newStream(SINK, { maxOutboundStreams: 1 })
        await stream.close()
      }
    })

    it(`${stack}: rejects the second of two pings at once, as there is only one allowed`, async () => {
      const { connection } = await pair(stack)
      const first = await connection.newStream(SINK, { maxOutboundStreams: 1 })

      await expect(connection.newStream(SINK, { maxOutboundStreams: 1 })).to.eventually.be.rejected
        .with.property('name', 'TooManyOutboundProtocolStreamsError')
      await first.close()
    })

    for (const [peer, options] of Object.entries({ 'the default limit': undefined, 'a limit of one': { maxInboundStreams: 1 } })) {
      it(`${stack}: loses nothing of 300 streams whose close nobody awaits, to a peer with ${peer}`, async () => {
        const { connection, received } = await pair(stack, options)

        for (let i = 0; i < 300; i++) {
          const stream = await connection.newStream(SINK)

          stream.send(new Uint8Array(1_000))
          void stream.close()
        }

        await until(() => received.length === 300, 'all streams have ended at the listener')
        expect(received).to.deep.equal(new Array(300).fill(1_000))
      })
    }
  }
})
