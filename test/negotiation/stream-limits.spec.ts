import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { readToEnd } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { until } from '../fixtures/waiting.ts'
import { bareNode, stacks } from './fixtures/stacks.ts'
import type { StackName } from './fixtures/stacks.ts'
import type { Identify } from '@libp2p/identify'
import type { Connection, Libp2p, StreamHandlerOptions } from '@libp2p/interface'
import type { Ping } from '@libp2p/ping'

const SINK = '/test/sink/1.0.0'

/** The listener answers with what came once the dialer has closed its end, as fetch, perf and dcutr do */
const ANSWER = '/test/answer/1.0.0'

const ONE_AT_A_TIME: StreamHandlerOptions = { maxInboundStreams: 1, maxOutboundStreams: 1 }

/** What the dialer sees of its own limit, and of a stream that the listener resets as its limit is reached */
const TOO_MANY = ['TooManyOutboundProtocolStreamsError', 'StreamResetError', 'StreamStateError', 'UnexpectedEOFError']

type Services = { ping: Ping, identify: Identify }

/** Protocols that allow one stream at a time at both ends, by what is said on a stream. The first two are libp2p's own services */
const EXCHANGES: Record<string, (dialer: Libp2p<Services>, connection: Connection) => Promise<void>> = {
  'ping, which sends and is sent the same': async (dialer, connection) => {
    expect(await dialer.services.ping.ping(connection.remotePeer)).to.be.at.least(0)
  },
  'identify, where only the listener speaks': async (dialer, connection) => {
    expect((await dialer.services.identify.identify(connection)).protocols).to.include(ANSWER)
  },
  'a protocol where only the dialer speaks, as in identify push': async (dialer, connection) => {
    const stream = await connection.newStream(SINK, ONE_AT_A_TIME)

    stream.send(new Uint8Array(1_000))
    await stream.close()
  },
  'a protocol that answers after the dialer has ended, as in fetch, perf and dcutr': async (dialer, connection) => {
    const stream = await connection.newStream(ANSWER, ONE_AT_A_TIME)
    let bytes = 0

    stream.send(new Uint8Array(1_000))
    await stream.close()

    for await (const data of stream) {
      bytes += data.byteLength
    }

    expect(bytes).to.equal(1_000)
  }
}

describe('code that opens one stream of a protocol after another', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()

  /** A dialer that knows what the listener speaks; `received` are the bytes of each stream */
  async function pair (stack: StackName, options?: StreamHandlerOptions): Promise<{ dialer: Libp2p<Services>, connection: Connection, received: number[] }> {
    const services = { identify: identify(), ping: ping() }
    const received: number[] = []
    const listener = await bareNode(defer, { ...stacks['@libp2p/tcp 11'](), services, addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] } })

    await listener.handle(SINK, async stream => {
      received.push((await readToEnd(stream)).bytes)
      await stream.close()
    }, options)

    await listener.handle(ANSWER, async stream => {
      const chunks: Uint8Array[] = []

      for await (const data of stream) {
        chunks.push(data.subarray())
      }

      chunks.forEach(chunk => { stream.send(chunk) })
      await stream.close()
    }, options)

    const dialer = await bareNode(defer, { ...stacks[stack](), services }) as Libp2p<Services>
    const identified = pEvent(dialer, 'peer:identify')
    const connection = await dialer.dial(listener.getMultiaddrs())
    await identified

    return { dialer, connection, received }
  }

  for (const stack of isThorough ? ['@libp2p/tcp 11', 'tcp() alone', 'all of ours'] as const : ['tcp() alone', 'all of ours'] as const) {
    for (const [name, exchange] of Object.entries(EXCHANGES)) {
      it(`${stack}: twenty streams, one after another, of ${name}`, async () => {
        const { dialer, connection } = await pair(stack, ONE_AT_A_TIME)

        for (let i = 0; i < 20; i++) {
          await exchange(dialer, connection)
        }
      })

      it(`${stack}: five streams at once of ${name}: each is served, or told that there are too many`, async () => {
        const { dialer, connection } = await pair(stack, ONE_AT_A_TIME)
        const results = await Promise.allSettled(Array.from({ length: 5 }, async () => exchange(dialer, connection)))
        const errors = results.flatMap(result => result.status === 'rejected' ? [result.reason.name] : [])

        expect(errors.length).to.be.at.most(4)
        expect(errors.filter(name => !TOO_MANY.includes(name))).to.deep.equal([])

        // and the connection serves the next
        await exchange(dialer, connection)
      })
    }

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
      it(`${stack}: loses nothing of 100 streams whose close nobody awaits, to a peer with ${peer}`, async () => {
        const { connection, received } = await pair(stack, options)

        for (let i = 0; i < 100; i++) {
          const stream = await connection.newStream(SINK)

          stream.send(new Uint8Array(1_000))
          void stream.close()
        }

        await until(() => received.length === 100, 'all streams have ended at the listener')
        expect(received).to.deep.equal(new Array(100).fill(1_000))
      })
    }
  }
})
