import { noise } from '@libp2p/noise'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { tcp } from '../../src/index.ts'
import { KiB, MiB, sendAll, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { counters } from '../fixtures/counters.ts'
import { collectRejections } from '../fixtures/rejections.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { closed, until, within } from '../fixtures/waiting.ts'
import { portOf } from './fixtures/dialer.ts'
import { muxers, ourMuxer } from './fixtures/muxers.ts'
import { relayTo, remote } from './fixtures/remote.ts'
import { silentMuxer } from './fixtures/silent-muxer.ts'
import { EAGER, bareNode, stacks } from './fixtures/stacks.ts'
import type { MuxerFactory } from './fixtures/muxers.ts'
import type { Visit } from './fixtures/remote.ts'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'

/** The listener has told of it in identify and has no handler for it any more */
const GONE = '/test/gone/1.0.0'

/** A window of yamux is 256 KiB: what is larger waits in the stream, as nobody reads it */
const SIZES = { 'no bytes': 0, '1 KiB': KiB, '300 kB': 300_000, ...isThorough ? { '200 kB': 200_000, '1 MiB': MiB, '20 MiB': 20 * MiB } : {} }

const REPLY_TIMEOUT = 100

/** A `close()` that takes longer, in ms, hangs */
const PATIENCE = 20_000

interface Scene {
  connection: Connection
  stream: Stream

  /** The listener's end of the connection, and of the stream */
  theirs: Connection
  theirStream(): Promise<Stream>

  /** The line between the two */
  line: Visit
}

interface Ending {
  /** By default the peer replies nothing */
  isRefused?: boolean
  replyTimeout?: number

  /** Nothing of the peer comes */
  isCutOff?: boolean

  /** What the error may be, by name or message */
  errors: string[]
  outcome: string[]
  end?(scene: Scene): unknown
}

const endings: Record<string, Ending> = {
  'is refused by the peer': {
    isRefused: true,
    errors: ['UnsupportedProtocolError'],
    outcome: ['refused']
  },
  'has no reply when the peer closes the connection': {
    // its muxer sends the FIN of every stream before it says that it goes away
    errors: ['UnsupportedProtocolError', 'ConnectionClosedError'],
    outcome: ['unanswered'],
    end: ({ theirs }) => theirs.close()
  },
  'has no reply when the peer aborts the connection': {
    errors: ['StreamResetError', 'ConnectionClosedError', 'MuxerClosedError'],
    outcome: ['unanswered', 'aborted'],
    end: ({ theirs }) => { theirs.abort(new Error('gone')) }
  },
  'has no reply when the line ends': {
    errors: ['ConnectionClosedError'],
    outcome: ['unanswered'],
    end: ({ line }) => { line.socket.resetAndDestroy() }
  },
  'is reset by the peer': {
    errors: ['StreamResetError'],
    outcome: ['unanswered'],
    end: async ({ theirStream }) => { (await theirStream()).abort(new Error('no')) }
  },
  'is ended by the peer without a reply': {
    errors: ['UnsupportedProtocolError'],
    outcome: ['unanswered'],
    end: async ({ theirStream }) => (await theirStream()).close()
  },
  'has no reply when we abort the connection': {
    errors: ['enough'],
    outcome: ['aborted'],
    end: ({ connection }) => { connection.abort(new Error('enough')) }
  },
  'has no reply when we abort the stream': {
    errors: ['enough'],
    outcome: ['aborted'],
    end: ({ stream }) => { stream.abort(new Error('enough')) }
  },
  'has no reply within replyTimeout': {
    replyTimeout: REPLY_TIMEOUT,
    isCutOff: true,
    errors: ['TimeoutError'],
    outcome: ['unanswered']
  }
}

interface Pair {
  listener: Libp2p

  /** Connect, and open a stream whose proposal will fail */
  open(): Promise<Scene>
  counted(): Record<string, number>
}

for (const name of ['@libp2p/yamux', 'libp2p-fast-tcp']) {
  describe(`close() of an optimistic stream to ${name}`, function () {
    this.timeout(60_000)

    const defer = cleanUpAfterEach()
    const rejections = collectRejections()

    async function pair (muxer: MuxerFactory, { isRefused, isCutOff, replyTimeout }: Ending): Promise<Pair> {
      const silent = silentMuxer(muxer)
      let mayReply = Promise.withResolvers<void>()
      const counts = counters()
      const listener = await bareNode(defer, {
        ...stacks['@libp2p/tcp 11'](),
        streamMuxers: [silent.muxer],
        addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] }
      })
      const { addr, visits } = await remote(defer, [relayTo(portOf(listener), async (bytes, write) => {
        await mayReply.promise
        await write(bytes)
      })])
      const dialer = await bareNode(defer, {
        transports: [tcp()],
        connectionEncrypters: [noise()],
        streamMuxers: [({ logger, events, peerStore }) => ourMuxer({ logger, events, peerStore, metrics: counts.metrics }, { replyTimeout })]
      })

      if (isRefused !== true) {
        silent.silence()
      }

      return {
        listener,
        counted: () => counts.labels('libp2p_optimistic_streams_total'),
        async open () {
          silent.streams.length = 0
          mayReply.resolve()
          const connection = await dialer.dial(multiaddr(`${addr}/p2p/${listener.peerId}`))

          await until(() => listener.getConnections().length === 1, 'the listener has the connection')

          // a reply that comes before the stream is open makes newStream reject
          mayReply = Promise.withResolvers()
          const stream = await connection.newStream(GONE, EAGER)

          if (isCutOff !== true) {
            mayReply.resolve()
          }

          return {
            connection,
            stream,
            theirs: listener.getConnections()[0],
            line: visits[visits.length - 1],
            async theirStream () {
              await until(() => silent.streams.length > 0, 'the peer has the stream')

              return silent.streams[0]
            }
          }
        }
      }
    }

    /** The error that a promise rejects with */
    async function rejection (promise: Promise<unknown>, what: string): Promise<Error> {
      return within(PATIENCE, what, promise.then(() => { throw new Error(`${what} resolved`) }, err => err))
    }

    for (const [ending, row] of Object.entries(endings)) {
      for (const isAwaited of [true, false]) {
        it(`${isAwaited ? 'rejects' : 'harms nobody, although nobody awaits it,'} if the proposal ${ending}`, async () => {
          const { open, counted, listener } = await pair(muxers[name], row)
          const before = { ...counted() }

          for (const [size, bytes] of Object.entries(SIZES)) {
            const scene = await open()
            const { stream, connection } = scene
            const end = closed(stream)

            sendAll(stream, new Uint8Array(bytes))

            if (isAwaited) {
              const closing = rejection(stream.close(), `close() after ${size}`)
              const second = rejection(stream.close(), `a second close() after ${size}`)
              // as an application whose patience ends
              const impatient = rejection(stream.close({ signal: AbortSignal.timeout(1) }), `close() with a signal after ${size}`)

              await row.end?.(scene)
              const error = await closing

              expect(error, size).to.be.an.instanceOf(Error)
              expect(row.errors.includes(error.name) || row.errors.includes(error.message), `${size}: ${error}`).to.be.true()
              expect(await second, size).to.equal(error)
              expect(await impatient, size).to.be.an.instanceOf(Error)
              expect((await end).error, size).to.equal(error)
            } else {
              void stream.close()
              await row.end?.(scene)
              expect((await end).error, size).to.be.an.instanceOf(Error)
            }

            expect(() => stream.send(Uint8Array.of(1)), size).to.throw()
            expect(connection.streams, size).to.be.empty()
            await within(PATIENCE, `a late close() after ${size}`, stream.close().catch(() => {}))

            connection.abort(new Error('done'))
            await until(() => listener.getConnections().length === 0, 'the listener has no connection')
          }

          await turns(5)
          expect(rejections).to.be.empty()

          const outcomes = Object.entries(counted()).filter(([outcome, count]) => count !== (before[outcome] ?? 0))

          expect(outcomes.map(([outcome]) => outcome).filter(outcome => !row.outcome.includes(outcome))).to.deep.equal([])
          expect(outcomes.reduce((sum, [, count]) => sum + count, 0)).to.equal(Object.keys(SIZES).length)
        })
      }
    }
  })
}
