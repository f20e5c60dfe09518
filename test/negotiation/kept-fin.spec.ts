import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { optimistic } from '../../src/index.ts'
import { readToEnd, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until, within } from '../fixtures/waiting.ts'
import { muxers } from './fixtures/muxers.ts'
import { bareNode, stacks } from './fixtures/stacks.ts'
import type { Connection, Libp2p, PeerStore, Stream, StreamHandler } from '@libp2p/interface'

const LATE = '/test/late/1.0.0'

/** How many turns of the event loop the listener's peer store takes: the peer has sent all by then */
const TURNS = 30

/** What a handler may do once it runs, although the peer has sent FIN before. It resolves to what it has read */
const handlers: Record<string, (stream: Stream) => Promise<number>> = {
  'reads with for await': async stream => (await readToEnd(stream)).bytes,
  'works before it reads': async stream => {
    await turns(TURNS)

    return (await readToEnd(stream)).bytes
  },
  'listens for events': async stream => {
    let bytes = 0

    stream.addEventListener('message', ({ data }) => { bytes += data.byteLength })
    await pEvent(stream, 'remoteCloseWrite')

    return bytes
  }
}

/** What the dialer does once it has sent its FIN */
const afterwards: Record<string, (connection: Connection) => unknown> = {
  stays: () => {},
  'closes the connection': async connection => connection.close()
}

for (const name of ['@libp2p/yamux', '@libp2p/mplex']) {
  describe(`the end of a stream that comes to a decorated ${name} before the handler runs`, function () {
    this.timeout(30_000)

    const defer = cleanUpAfterEach()

    /** An official dialer, connected to a decorated listener whose peer store is slow */
    async function pair (handler: StreamHandler): Promise<{ connection: Connection, listener: Libp2p }> {
      const listener = await bareNode(defer, {
        ...stacks['tcp() alone'](),
        streamMuxers: [optimistic(muxers[name])],
        addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] }
      })
      const merge = listener.peerStore.merge.bind(listener.peerStore)

      listener.peerStore.merge = async (...args: Parameters<PeerStore['merge']>) => {
        await turns(TURNS)

        return merge(...args)
      }

      await listener.handle(LATE, handler)
      const dialer = await bareNode(defer, { ...stacks['@libp2p/tcp 11'](), streamMuxers: [muxers[name]] })

      return { connection: await dialer.dial(listener.getMultiaddrs()), listener }
    }

    for (const [does, handler] of Object.entries(handlers)) {
      for (const bytes of [0, 1, 100_000]) {
        for (const [then, after] of Object.entries(afterwards)) {
          it(`reaches one that ${does}, with ${bytes} bytes, if the dialer ${then}`, async () => {
            const read = Promise.withResolvers<number>()
            const { connection, listener } = await pair(async stream => {
              handler(stream).then(read.resolve, read.reject)
              await read.promise
              await stream.close()
            })
            const stream = await connection.newStream(LATE)

            if (bytes > 0) {
              stream.send(new Uint8Array(bytes))
            }

            await stream.close()
            await after(connection)

            expect(await within(5_000, 'the end', read.promise)).to.equal(bytes)
            await until(() => listener.getConnections().every(({ streams }) => streams.length === 0), 'the stream is gone')
          })
        }
      }
    }

    it('lets a stream end whose handler only writes', async () => {
      const { connection, listener } = await pair(async stream => {
        stream.send(Uint8Array.of(1))
        await stream.close()
      })
      const stream = await connection.newStream(LATE)
      const read = readToEnd(stream)

      await stream.close()
      expect((await read).bytes).to.equal(1)
      await until(() => listener.getConnections()[0].streams.length === 0, 'the stream is gone')
    })

    it('lets a stream end that the handler aborts', async () => {
      const { connection, listener } = await pair(stream => { stream.abort(new Error('no')) })
      const stream = await connection.newStream(LATE)
      const close = pEvent(stream, 'close')

      await stream.close()
      await close
      expect(listener.getConnections()[0].streams).to.be.empty()
    })
  })
}
