import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { KiB, MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until, untilStill } from '../fixtures/waiting.ts'
import { stockLine } from './fixtures/stacks.ts'
import type { Stream, StreamCloseEvent } from '@libp2p/interface'

const READ = '/test/read/1.0.0'
const FIRST_WINDOW = 256 * KiB

const defer = cleanUpAfterEach()

/** The part of a stream of js-yamux that an attacker would change */
interface YamuxStream extends Stream {
  sendWindowCapacity: number
  sendFrame(header: { type: number, flag: number, streamID: number, length: number }, data?: Uint8Array): boolean
  streamId: number
}

describe('a hostile sender', function () {
  this.timeout(120_000)

  /** What a connection may hold */
  const MAX_UNREAD = 64 * MiB

  async function attack (hold: (stream: Stream) => void, run: (open: () => Promise<YamuxStream>) => Promise<void>): Promise<{ error?: Error, most: number }> {
    const { listener, accepted, dialed } = await stockLine(defer)
    const streams: Stream[] = []
    let most = 0

    await listener.handle(READ, stream => {
      streams.push(stream)
      hold(stream)
    }, { maxInboundStreams: 10_000, maxOutboundStreams: 10_000 })

    const timer = setInterval(() => {
      most = Math.max(most, streams.reduce((sum, { readBufferLength }) => sum + readBufferLength, 0))
    }, 1)

    try {
      const ended = pEvent<'close', StreamCloseEvent>(accepted, 'close', { timeout: 100_000 })
      await run(async () => await dialed.newStream(READ, { maxOutboundStreams: 10_000 }) as YamuxStream).catch(() => {})

      return { error: (await ended).error, most }
    } finally {
      clearInterval(timer)
    }
  }

  it('that ignores the window of a paused stream loses the connection', async () => {
    const { error, most } = await attack(stream => { stream.pause() }, async open => {
      const stream = await open()

      for (let i = 0; i < 2_000; i++) {
        stream.sendWindowCapacity = 2 ** 30
        stream.send(new Uint8Array(64 * KiB))

        if (i % 16 === 0) {
          await delay(1)
        }
      }
    })

    expect(error).to.have.property('name', 'ReceiveWindowExceededError')
    expect(most).to.be.at.most(16 * MiB + FIRST_WINDOW)
  })

  it('that sends to paused streams for longer than their windows is made to wait', async () => {
    const { listener, accepted, dialed } = await stockLine(defer)
    const streams: Stream[] = []

    await listener.handle(READ, stream => {
      stream.pause()
      streams.push(stream)
    })

    for (let i = 0; i < 20; i++) {
      (await dialed.newStream(READ)).send(new Uint8Array(4 * MiB))
    }

    await until(() => streams.length === 20, 'all are open')
    await untilStill(() => streams.reduce((sum, { readBufferLength }) => sum + readBufferLength, 0))

    streams.forEach(({ readBufferLength }) => { expect(readBufferLength).to.be.at.most(16 * MiB) })
    expect(accepted.status).to.equal('open')
    dialed.abort(new Error('The test is over'))
  })

  for (const [title, flag] of [['a frame of 2 GiB', 0], ['a last frame of 2 GiB', 4]] as const) {
    it(`that announces ${title} loses the connection before it is kept`, async () => {
      const { error, most } = await attack(() => {}, async open => {
        const stream = await open()

        stream.sendFrame({ type: 0, flag, streamID: stream.streamId, length: 2 ** 31 }, new Uint8Array(64 * KiB))
      })

      expect(error).to.have.property('name', 'ReceiveWindowExceededError')
      expect(most).to.be.at.most(MiB)
    })
  }

  it('that fills the windows of 1,000 streams loses the connection', async () => {
    const { error, most } = await attack(() => {}, async open => {
      for (let i = 0; i < 1_000; i++) {
        (await open()).send(new Uint8Array(FIRST_WINDOW - 100))
      }
    })

    expect(error).to.have.property('name', 'StreamBufferError')
    expect(most).to.be.at.most(MAX_UNREAD + 2 * MiB)
  })
})
