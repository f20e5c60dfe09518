import { byteStream } from '@libp2p/utils'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { readToEnd } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until, within } from '../fixtures/waiting.ts'
import { muxerPair, muxers } from './fixtures/muxers.ts'
import { NOISE, counting, joined } from './fixtures/proposals.ts'
import { EAGER } from './fixtures/stacks.ts'
import { streamNodes } from './fixtures/stream-nodes.ts'
import type { Connection, Stream, StreamHandler } from '@libp2p/interface'

const ANSWER = '/test/answer/1.0.0'

/** What an application does once `close()` has resolved */
const readers: Record<string, (stream: Stream) => Promise<unknown>> = {
  'for await': async stream => (await readToEnd(stream)).bytes,
  byteStream: async stream => {
    const reader = byteStream(stream)
    let bytes = 0

    for (let data = await reader.read(); data != null; data = await reader.read()) {
      bytes += data.byteLength
    }

    return bytes
  },
  "a 'message' listener, until 'remoteCloseWrite'": async stream => {
    let bytes = 0
    stream.addEventListener('message', ({ data }) => { bytes += data.byteLength })
    await pEvent(stream, 'remoteCloseWrite')

    return bytes
  },
  "a 'message' listener, until 'close'": async stream => {
    let bytes = 0
    stream.addEventListener('message', ({ data }) => { bytes += data.byteLength })
    await pEvent(stream, 'close')

    return bytes
  }
}

interface Answering {
  handler: StreamHandler

  /** Resolves when all is on its way */
  answered: Promise<void>
}

/** Answers at once and ends the stream, and then maybe the connection */
function answering (then: (connection: Connection) => unknown): Answering {
  const answered = Promise.withResolvers<void>()

  return {
    answered: answered.promise,
    async handler (stream, connection) {
      await pEvent(stream, 'message')
      stream.send(Uint8Array.of(1, 2, 3))
      await stream.close()
      await then(connection)
      answered.resolve()
    }
  }
}

/** What the peer does then */
const afterwards: Record<string, (connection: Connection) => unknown> = {
  'goes on': () => {},
  'closes the connection': async connection => connection.close()
}

for (const [name, muxer] of Object.entries(muxers)) {
  describe(`what a peer answers at once on an optimistic stream of ${name}, and ends, reaches who comes after close()`, () => {
    const defer = cleanUpAfterEach()

    for (const [reader, read] of Object.entries(readers)) {
      it(`with ${reader}, if the reply comes with all of it`, async () => {
        const { local, remote } = await muxerPair(muxer).open('/noise')
        const closing = local.close()
        remote.send(joined(NOISE, counting(3)))
        await remote.close()
        await closing

        expect(await within(5_000, 'the end', read(local))).to.equal(3)
        await until(() => local.status === 'closed', 'the stream is closed')
      })

      for (const [does, then] of Object.entries(afterwards)) {
        it(`with ${reader}, if the peer ${does}`, async () => {
          const { connection, listener, holdReplies } = await streamNodes(defer, { muxer })
          const { answered, handler } = answering(then)
          await listener.handle(ANSWER, handler)
          const release = holdReplies()
          const stream = await connection.newStream(ANSWER, EAGER)
          stream.send(Uint8Array.of(1))
          const closing = stream.close()
          await within(5_000, 'the answer', answered)
          release()
          await closing

          expect(stream.writeStatus).to.equal('closed')
          expect(await within(5_000, 'the end', read(stream))).to.equal(3)
          await until(() => stream.status === 'closed', 'the stream is closed')
        })
      }
    }
  })
}
