import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { KiB, MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until, untilStill, within } from '../fixtures/waiting.ts'
import { line, openStream } from './fixtures/stacks.ts'
import type { MuxerName } from './fixtures/stacks.ts'
import type { Stream } from '@libp2p/interface'

const SLOW = '/test/slow/1.0.0'

const WINDOW = 256 * KiB

/** What waits for a socket */
const HIGH_WATER_MARK = 64 * KiB

/** Far more than may wait. Without a limit a sender that is never held back would take all memory */
const TOO_MUCH = 64 * MiB

const defer = cleanUpAfterEach()

/** What js-libp2p asks of a sender, and our own example shows */
async function sendPolitely (stream: Stream, message: Uint8Array, mayGoOn: () => boolean): Promise<void> {
  while (mayGoOn()) {
    if (!stream.send(message)) {
      await stream.onDrain()
    }
  }
}

describe("'drain' of a stream", () => {
  it('comes to a listener of old only when all has left that was sent before', async () => {
    const { listener, dialed } = await line(defer, { bytesPerSecond: 16 * MiB })
    await listener.handle(SLOW, stream => { stream.addEventListener('message', () => {}) })

    const streams = [await dialed.newStream(SLOW), await dialed.newStream(SLOW)]
    const seen = { most: 0, refills: 0 }

    for (const outgoing of streams) {
      const fill = (): void => {
        seen.refills++

        while (outgoing.writeStatus === 'writable' && outgoing.send(new Uint8Array(MiB))) {
          // until it is full
        }

        seen.most = Math.max(seen.most, outgoing.writeBufferLength)
      }

      // before anything is sent
      outgoing.addEventListener('drain', fill)
      fill()
    }

    await until(() => seen.refills > 12, 'they have sent much', 30_000)
    streams.forEach(stream => { stream.abort(new Error('The test is over')) })
    expect(seen.most).to.be.at.most(MiB)
  }).timeout(40_000)
})

describe('onDrain() of a stream', () => {
  const cases: Array<[size: number, muxer: MuxerName, by: 'dialed' | 'accepted']> = [
    [KiB, 'yamux', 'dialed'],
    [64 * KiB, 'yamux', 'dialed'],
    [MiB, 'yamux', 'dialed'],
    [64 * KiB, 'yamux', 'accepted']
  ]

  for (const [size, muxer, by] of cases) {
    it(`holds a sender of ${size / KiB} KiB back every time, ${muxer}, ${by}`, async () => {
      const { dialer, listener, ...connections } = await line(defer, { muxer, maxWindow: WINDOW })
      const { outgoing, incoming } = await openStream(connections[by], by === 'dialed' ? listener : dialer)
      const bytes = { sent: 0, received: 0 }
      const message = new Uint8Array(size)
      const sending = sendPolitely(outgoing, message, () => { bytes.sent += size; return bytes.sent - bytes.received < TOO_MUCH })

      incoming.addEventListener('message', ({ data }) => { bytes.received += data.byteLength })

      for (let round = 0; round < 3; round++) {
        incoming.pause()
        const paused = await untilStill(() => bytes.sent)
        expect(bytes.sent - bytes.received, `round ${round}`).to.be.at.most(WINDOW + HIGH_WATER_MARK + 2 * size)

        incoming.resume()
        await until(() => bytes.sent > paused + 2 * MiB, 'it goes on')
      }

      incoming.abort(new Error('The test is over'))
      await within(5_000, 'the end', sending.catch(() => {}))
    })
  }

  it('resolves before close(), which delivers all', async () => {
    const { listener, dialed } = await line(defer, { bytesPerSecond: 32 * MiB })
    let received = 0
    const ended = Promise.withResolvers<void>()

    await listener.handle(SLOW, async stream => {
      stream.addEventListener('message', ({ data }) => { received += data.byteLength })
      await pEvent(stream, 'remoteCloseWrite')
      ended.resolve()
    })

    const stream = await dialed.newStream(SLOW)
    let sent = 0

    await within(10_000, 'sending', sendPolitely(stream, new Uint8Array(100 * KiB), () => (sent += 100 * KiB) <= 5 * MiB))
    await stream.close()
    await within(10_000, 'the end', ended.promise)

    expect(received).to.equal(sent - 100 * KiB)
  })

  it('rejects if the stream ends', async () => {
    const { listener, dialed } = await line(defer)
    await listener.handle(SLOW, stream => { stream.pause() })

    const stream = await dialed.newStream(SLOW)
    stream.send(new Uint8Array(MiB))
    const drained = stream.onDrain()
    stream.abort(new Error('Enough'))

    await expect(drained).to.eventually.be.rejectedWith('Enough')
    await expect(stream.onDrain()).to.eventually.be.rejected()
  })
})
