import { setTimeout as wait } from 'node:timers/promises'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'
import { expect } from 'aegir/chai'
import { FairStreams } from '../../src/flow/fair-streams.ts'
import { KiB, MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until } from '../fixtures/waiting.ts'
import type { Stream, StreamMuxer } from '@libp2p/interface'

/** What a stream may send before the peer lets it send more */
const FIRST_WINDOW = 256 * KiB

interface Held {
  bulk: Stream
  small: Stream

  /** What has come to the peer, of each stream in the order in which they were opened, in bytes */
  received: number[]
  hold(isHeld: boolean): void

  /** How often the first stream was told to go on */
  turns(): number

  /** Until the peer has answered all that was sent */
  answered(): Promise<unknown>
}

const defer = cleanUpAfterEach()

/**
 * Two streams of yamux, and a connection that is full when the test says so, as it is while a send window is.
 * js-yamux answers each frame with a window update, unless it is not read.
 */
async function heldConnection (frameBytes: number, isRead = true): Promise<Held> {
  const [outbound, inbound] = multiaddrConnectionPair()
  const { send } = outbound
  const received: number[] = []
  let isHeld = false

  outbound.send = data => send.call(outbound, data) && !isHeld
  outbound.addEventListener('drain', event => {
    if (isHeld) {
      event.stopImmediatePropagation()
    }
  })

  const [muxer, peer] = [outbound, inbound].map(connection => yamux({ enableKeepAlive: false })().createStreamMuxer(connection))

  defer(() => { [muxer, peer].forEach(muxer => { muxer.abort(new Error('The test is over')) }) })

  peer.addEventListener('stream', ({ detail: stream }) => {
    const index = received.push(0) - 1

    if (isRead) {
      stream.addEventListener('message', ({ data }) => { received[index] += data.byteLength })
    } else {
      stream.pause()
    }
  })

  const [bulk, small] = [await muxer.createStream(), await muxer.createStream()]

  let turns = 0

  // before the listener that keeps the event from the application
  bulk.addEventListener('drain', () => { turns++ })
  new FairStreams(muxer.streams, { frameBytes }).adopt()

  return {
    bulk,
    small,
    received,
    turns: () => turns,
    // of js-yamux; not part of the interface
    answered: async () => (muxer as StreamMuxer & { ping(): Promise<number> }).ping(),
    hold (held) {
      isHeld = held

      if (!held) {
        outbound.dispatchEvent(new Event('drain'))
      }
    }
  }
}

describe('streams of a connection that must not be filled', () => {
  for (const frameBytes of [4 * KiB, 64 * KiB]) {
    it(`send no more with each window update of the peer if they have much, and others pass them, with frames of ${frameBytes / KiB} KiB`, async () => {
      const { bulk, small, received, hold, answered } = await heldConnection(frameBytes)

      hold(true)
      bulk.send(new Uint8Array(MiB))
      small.send(new Uint8Array(20 * KiB))
      await until(() => received[1] === 20 * KiB, 'the small message has come')
      // with window updates, and those that the next frames would bring
      await answered()
      await answered()
      expect(received).to.deep.equal([frameBytes, 20 * KiB])

      hold(false)
      await until(() => received[0] === MiB, 'all has come')
    })
  }

  it('leave room for others also at the end of their window', async () => {
    const { bulk, small, received, hold, answered } = await heldConnection(4 * KiB)

    // each update lets the stream send a frame, and no more
    bulk.send(new Uint8Array(2 * MiB))
    hold(true)

    for (let i = 0; i < 20; i++) {
      await answered()
    }

    small.send(new Uint8Array(20 * KiB))
    await until(() => received[1] === 20 * KiB, 'the small message has come')

    hold(false)
    await until(() => received[0] === 2 * MiB, 'all has come')
  })

  it('have no turns while their window is exhausted', async () => {
    const { bulk, hold, turns, answered } = await heldConnection(4 * KiB, false)

    bulk.send(new Uint8Array(FIRST_WINDOW + MiB))
    await until(() => bulk.writeBufferLength === MiB, 'the window is exhausted')
    await answered()

    const before = turns()

    for (let i = 0; i < 100; i++) {
      hold(true)
      hold(false)
      await wait(0)
    }

    expect(turns()).to.equal(before)
  })
})
