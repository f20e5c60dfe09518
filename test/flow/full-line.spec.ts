import { byteStream } from '@libp2p/utils'
import { yamux as stockYamux } from '@libp2p/yamux'
import { expect } from 'aegir/chai'
import { testsAtOnce } from '../fixtures/all-at-once.ts'
import { MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { ECHO } from '../fixtures/node.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { until, within } from '../fixtures/waiting.ts'
import { median } from '../lab/statistics.ts'
import { stockLine } from './fixtures/stacks.ts'
import { UPLOAD, takeUploads } from './fixtures/uploads.ts'
import type { Line, StockLineInit } from './fixtures/stacks.ts'
import type { Defer } from '../fixtures/cleanup.ts'
import type { StreamMuxer } from '@libp2p/interface'

const RATE = 1.25 * MiB
const CHUNK = new Uint8Array(64 * 1024)

interface Upload extends Omit<Line, 'dialer'> {
  /** What has left the stream and has not arrived, in bytes */
  onItsWay(): number
  received(): number
}

/** Ours, with `tcp()` alone, uploads to a stock peer over a slow line */
async function uploadToStock (defer: Defer, init: StockLineInit = {}): Promise<Upload> {
  const line = await stockLine(defer, { bytesPerSecond: RATE, ...init })
  const received = await takeUploads(line.stock)
  const stream = await line.accepted.newStream(UPLOAD)
  let sent = 0

  const send = async (): Promise<void> => {
    for (;;) {
      sent += CHUNK.byteLength

      if (!stream.send(CHUNK)) {
        await stream.onDrain()
      }
    }
  }

  send().catch(() => {})

  return { ...line, onItsWay: () => sent - stream.writeBufferLength - received[0], received: () => received[0] ?? 0 }
}

/** What is on its way until so much more has arrived, most of the time. A busy machine makes a line seem longer for a moment */
async function usuallyOnItsWay ({ onItsWay, received }: Upload, bytes: number): Promise<number> {
  const end = received() + bytes
  const samples: number[] = []

  await until(() => {
    samples.push(onItsWay())

    return received() >= end
  }, 'more has arrived', 60_000)

  return median(samples)
}

describe('an upload to a stock peer over a slow line', function () {
  this.timeout(90_000)

  const defer = cleanUpAfterEach()

  // alone: what else this process does makes a line seem longer
  it('has no more on its way than fits the line, and answers to the peer pass it', async () => {
    const upload = await uploadToStock(defer)

    await until(() => upload.received() > 6 * MiB, 'it is under way', 60_000)
    expect(await usuallyOnItsWay(upload, 2 * MiB)).to.be.below(3 * MiB)

    const echo = async (): Promise<void> => {
      const stream = byteStream(await upload.dialed.newStream(ECHO))

      await stream.write(CHUNK.subarray(0, 100))
      await stream.read({ bytes: 100 })
    }

    // libp2p's own ping has so long
    await within(5_000, 'a new stream of the peer', echo())
    upload.dialed.abort(new Error('The test is over'))
  })
})

describe('an upload to a stock peer over a slow line, beside others (with THOROUGH=true)', function () {
  this.timeout(90_000)

  skipUnless(isThorough)

  const itAtOnce = testsAtOnce()

  itAtOnce('has all on its way that the kernel takes with sendWindow: false', async defer => {
    const upload = await uploadToStock(defer, { yamux: { sendWindow: false } })

    await until(() => upload.received() > 8 * MiB, 'it is under way', 60_000)
    expect(await usuallyOnItsWay(upload, MiB)).to.be.above(3 * MiB)
    upload.dialed.abort(new Error('The test is over'))
  })

  itAtOnce('goes on if the peer does not answer pings any more', async defer => {
    const muxers: StreamMuxer[] = []
    const upload = await uploadToStock(defer, {
      stockMuxer: () => {
        const factory = stockYamux()()
        const { createStreamMuxer } = factory

        factory.createStreamMuxer = connection => {
          const muxer = createStreamMuxer.call(factory, connection)
          muxers.push(muxer)

          return muxer
        }

        return factory
      }
    })

    await until(() => upload.received() > 6 * MiB, 'it is under way', 60_000)
    // the private method by which js-yamux answers, as a peer that does not would have changed it
    expect(muxers.map(muxer => typeof Reflect.get(muxer, 'sendPing'))).to.deep.equal(['function'])
    muxers.forEach(muxer => { Reflect.set(muxer, 'sendPing', () => {}) })

    const before = upload.received()
    await until(() => upload.received() > before + 4 * MiB, 'it went on', 60_000)
    expect(upload.dialed.status).to.equal('open')
    upload.dialed.abort(new Error('The test is over'))
  })

  itAtOnce('is not held up by a window that is full when it ends', async defer => {
    const upload = await uploadToStock(defer)

    await until(() => upload.received() > 6 * MiB, 'it is under way', 60_000)
    // libp2p itself waits for 1 s
    await upload.accepted.close({ signal: AbortSignal.timeout(20_000) })
  })
})
