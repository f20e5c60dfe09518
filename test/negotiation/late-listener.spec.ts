import { setTimeout as delay } from 'node:timers/promises'
import { byteStream } from '@libp2p/utils'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { readToEnd } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until, within } from '../fixtures/waiting.ts'
import { muxers } from './fixtures/muxers.ts'
import { EAGER } from './fixtures/stacks.ts'
import { streamNodes } from './fixtures/stream-nodes.ts'
import type { Stream } from '@libp2p/interface'

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

for (const [name, muxer] of Object.entries(muxers)) {
  describe(`what a peer answers at once on an optimistic stream of ${name}, and ends, reaches who comes after close()`, () => {
    const defer = cleanUpAfterEach()

    for (const [reader, read] of Object.entries(readers)) {
      for (const then of ['goes on', 'closes the connection']) {
        it(`with ${reader}, if the peer ${then}`, async () => {
          const { connection, listener, holdReplies } = await streamNodes(defer, { muxer })
          const answered = Promise.withResolvers<void>()
          await listener.handle(ANSWER, stream => {
            stream.addEventListener('message', () => {
              stream.send(Uint8Array.of(1, 2, 3))
              const closing = stream.close()
              closing.then(async () => then === 'goes on' ? undefined : listener.getConnections()[0].close()).catch(() => {}).finally(answered.resolve)
            }, { once: true })
          })
          const release = holdReplies()
          const stream = await connection.newStream(ANSWER, EAGER)
          stream.send(Uint8Array.of(1))
          const closing = stream.close()
          await within(5_000, 'the answer', answered.promise)
          // it is on its way
          await delay(50)
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
