import net from 'node:net'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { yamux } from '../../src/index.ts'
import { KiB, readToEnd, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { portOf } from '../fixtures/raw.ts'
import { itIf } from '../fixtures/skip.ts'
import { until, untilStill, within } from '../fixtures/waiting.ts'
import { muxers } from './fixtures/muxers.ts'
import { joined, message } from './fixtures/proposals.ts'
import { bareNode, stacks } from './fixtures/stacks.ts'
import type { Defer } from '../fixtures/cleanup.ts'
import type { Connection, Libp2p, MessageStream, PeerStore, Stream, StreamHandler, StreamMuxer } from '@libp2p/interface'

const LATE = '/test/late/1.0.0'
const BULK = '/test/bulk/1.0.0'

/** What they send fills the kernel's buffers, each a first window of yamux */
const BULK_STREAMS = 80
const BULK_BYTES = 256 * KiB

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

for (const name of ['@libp2p/yamux', 'libp2p-fast-tcp']) {
  describe(`the end of a stream that comes from ${name} before the handler runs`, function () {
    this.timeout(30_000)

    const defer = cleanUpAfterEach()

    /** An official dialer, connected to a decorated listener whose peer store is slow */
    async function pair (handler: StreamHandler): Promise<{ connection: Connection, listener: Libp2p }> {
      const listener = await bareNode(defer, {
        ...stacks['tcp() alone'](),
        streamMuxers: [yamux()],
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

    // as go-libp2p dials, which does not await the answer to its proposal. Ours does not open so many to a silent peer
    itIf(name === '@libp2p/yamux')('reaches one whose protocol cannot be answered at first, since the connection is full', async () => {
      const ended = Promise.withResolvers<number>()
      const listener = await bareNode(defer, {
        ...stacks['tcp() alone'](),
        streamMuxers: [yamux()],
        addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] }
      })

      await listener.handle(BULK, stream => { stream.send(new Uint8Array(BULK_BYTES)) }, { maxInboundStreams: BULK_STREAMS })
      await listener.handle(LATE, stream => { handlers['listens for events'](stream).then(ended.resolve, ended.reject) })

      // official, with a muxer that the test has to itself
      let muxer: StreamMuxer | undefined
      const dialer = await bareNode(defer, {
        ...stacks['@libp2p/tcp 11'](),
        streamMuxers: [() => {
          const factory = muxers[name]()

          return Object.assign(Object.create(factory), {
            createStreamMuxer: (connection: MessageStream) => {
              muxer = factory.createStreamMuxer(connection)

              return muxer
            }
          })
        }]
      })
      const relay = await stoppableRelay(defer, portOf(listener.getMultiaddrs()[0]))
      await dialer.dial(multiaddr(`/ip4/127.0.0.1/tcp/${relay.port}/p2p/${listener.peerId}`))
      const propose = async (protocol: string, ...data: Uint8Array[]): Promise<Stream> => {
        const stream = await muxer?.createStream() as Stream
        stream.send(joined(message('/multistream/1.0.0'), message(protocol), ...data))

        return stream
      }

      await until(() => listener.getConnections().length === 1, 'both are connected')
      relay.stop()

      for (let i = 0; i < BULK_STREAMS; i++) {
        await propose(BULK)
      }

      const isFull = (): number => listener.getConnections()[0].streams.filter(({ writableNeedsDrain }) => writableNeedsDrain).length
      await until(() => isFull() > BULK_STREAMS / 2, 'the connection is full')
      await untilStill(isFull)

      const late = await propose(LATE, new Uint8Array(10))
      await late.close()
      await until(() => listener.getConnections()[0].streams.length > BULK_STREAMS, 'the stream has come')
      await turns(TURNS)
      relay.go()

      expect(await within(10_000, 'the end', ended.promise)).to.equal(10)
    })

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

    for (const when of ['before', 'after']) {
      it(`lets a handler that only listens to 'close' hear of it, ${when} FIN comes`, async () => {
        const handling = Promise.withResolvers<void>()
        const fin = Promise.withResolvers<void>()
        const ended = Promise.withResolvers<unknown>()
        const { connection } = await pair(async stream => {
          handling.resolve()

          if (when === 'after') {
            await fin.promise
          }

          stream.addEventListener('close', ended.resolve)
        })
        const stream = await connection.newStream(LATE)
        await handling.promise
        await stream.close()
        await turns(TURNS)
        fin.resolve()
        await turns(2)
        await connection.close()

        await within(5_000, 'the end', ended.promise)
      })
    }

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

/** Hands on what both ends send, and stops reading what comes from the listener when it is told */
async function stoppableRelay (defer: Defer, to: number): Promise<{ port: number, stop(): void, go(): void }> {
  let unread = (): net.Socket => { throw new Error('Nobody has dialed') }
  let read = unread
  const { port } = await rawPeer(defer, {
    onSocket (socket) {
      const target = net.connect(to, '127.0.0.1')

      unread = () => target.unpipe()
      read = () => target.pipe(socket)
      target.on('error', () => {})
      socket.pipe(target)
      read()
    }
  })

  return { port, stop: () => { unread() }, go: () => { read() } }
}
