import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { KiB, MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { collectGarbage } from '../fixtures/garbage.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { until, within } from '../fixtures/waiting.ts'
import { InOrder, sendNumbered } from './fixtures/numbered.ts'
import { line, openStream } from './fixtures/stacks.ts'
import type { MuxerName } from './fixtures/stacks.ts'
import type { Stream } from '@libp2p/interface'

const PAUSED = '/test/paused/1.0.0'

/** The largest window of js-yamux */
const MAX_WINDOW = 16 * MiB

/** What waits for sockets and between the two ends */
const ON_THE_WAY = 8 * MiB

const defer = cleanUpAfterEach()

interface PauseInit {
  muxer: MuxerName
  streams: number

  /** What each sends, in bytes */
  total: number
  size: number

  /** How long each receiver pauses, again and again, in ms */
  pause: number
  pauses: number
  by?: 'dialed' | 'accepted'
}

/** Some streams send as much as they may to receivers that pause */
async function sendToPausing ({ muxer, streams, total, size, pause, pauses, by = 'dialed' }: PauseInit): Promise<void> {
  const { dialer, listener, ...connections } = await line(defer, { muxer })
  const receivers: Array<Promise<number>> = []
  const receiver = by === 'dialed' ? listener : dialer

  await receiver.handle(PAUSED, stream => {
    receivers.push(receive(stream))
  }, { maxInboundStreams: 100 })

  async function receive (stream: Stream): Promise<number> {
    const inOrder = new InOrder()
    let left = pauses

    stream.addEventListener('message', ({ data }) => {
      inOrder.add(data)

      // what was kept comes as one message, which may be the last
      if (left > 0 && inOrder.bytes < total && inOrder.bytes > (pauses - left) * total / (pauses + 1)) {
        left--
        stream.pause()
        setTimeout(() => { stream.resume() }, pause)
      }
    })

    await pEvent(stream, 'end', { rejectionEvents: ['close'], timeout: 120_000 })

    return inOrder.bytes
  }

  await within(120_000, 'all', Promise.all(Array.from({ length: streams }, async () => {
    const stream = await connections[by].newStream(PAUSED)

    await sendNumbered(stream, total, size).done
    await stream.close()
  })))
  await until(() => receivers.length === streams, 'all have begun')

  expect(await Promise.all(receivers)).to.deep.equal(new Array(streams).fill(total))
}

describe('pause() of a stream that receives', function () {
  this.timeout(60_000)

  const cases: PauseInit[] = [
    { muxer: 'yamux', streams: 1, total: 32 * MiB, size: 64 * KiB, pause: 300, pauses: 2 },
    { muxer: 'yamux', streams: 1, total: 8 * MiB, size: KiB, pause: 100, pauses: 5 },
    { muxer: 'yamux', streams: 20, total: 2 * MiB, size: 64 * KiB, pause: 300, pauses: 1 },
    { muxer: 'yamux', streams: 1, total: 32 * MiB, size: 64 * KiB, pause: 300, pauses: 1, by: 'accepted' }
  ]

  if (isThorough) {
    const muxer = 'yamux'

    for (const streams of [1, 20]) {
      for (const [pause, pauses] of [[60_000, 1], [5_000, 3], [100, 20]]) {
        cases.push({ muxer, streams, total: 400 * MiB / streams, size: 64 * KiB, pause, pauses })
        cases.push({ muxer, streams, total: 400 * MiB / streams, size: 16 * KiB, pause, pauses })
        cases.push({ muxer, streams, total: 40 * MiB / streams, size: KiB, pause, pauses })
      }
    }
  }

  for (const init of cases) {
    const { muxer, streams, size, pause, by = 'dialed' } = init

    it(`loses nothing in ${pause} ms: ${streams} of ${muxer}, ${by}, messages of ${size / KiB} KiB`, async () => {
      await sendToPausing(init)
    }).timeout(240_000)
  }

  it('makes the peer wait, and takes no more than a window meanwhile', async () => {
    const { listener, dialed } = await line(defer)
    const { outgoing, incoming } = await openStream(dialed, listener)
    const inOrder = new InOrder()

    collectGarbage()

    const before = process.memoryUsage().arrayBuffers
    const sending = sendNumbered(outgoing, 64 * MiB)

    incoming.addEventListener('message', ({ data }) => { inOrder.add(data) })
    await until(() => inOrder.bytes > 32 * MiB, 'it is fast')
    incoming.pause()
    await delay(1_000)

    expect(incoming.status).to.equal('open')
    expect(incoming.readBufferLength).to.be.at.most(MAX_WINDOW)

    // what other tests and the first 32 MiB have left is garbage by now, which V8 frees in another thread.
    // Messages are parts of the buffers in which they were read and decrypted, which take up to twice as much
    await until(() => {
      collectGarbage()

      return process.memoryUsage().arrayBuffers - before < 2 * MAX_WINDOW + ON_THE_WAY
    }, 'no more than a window is held')

    incoming.resume()
    await within(20_000, 'the rest', sending.done)
    await until(() => inOrder.bytes === 64 * MiB, 'all is there')
  })

  it('holds if the stream is paused again while it hands on what it kept', async () => {
    const { listener, dialed } = await line(defer)
    const { outgoing, incoming } = await openStream(dialed, listener)
    const inOrder = new InOrder()
    const sending = sendNumbered(outgoing, 128 * MiB)

    incoming.addEventListener('message', ({ data }) => {
      inOrder.add(data)
      incoming.pause()
    })

    for (let round = 0; round < 4; round++) {
      await delay(200)
      expect(incoming.status).to.equal('open')
      expect(incoming.readBufferLength).to.be.at.most(MAX_WINDOW)
      incoming.resume()
    }

    incoming.abort(new Error('The test is over'))
    await sending.done.catch(() => {})
  })
})
