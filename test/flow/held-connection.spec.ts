import { setTimeout as wait } from 'node:timers/promises'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'
import { expect } from 'aegir/chai'
import { FairStreams } from '../../src/flow/fair-streams.ts'
import { MiB } from '../fixtures/bytes.ts'
import { until } from '../fixtures/waiting.ts'
import type { Stream, StreamMuxer } from '@libp2p/interface'

const FRAME = 4 * 1024

interface Held {
  muxer: StreamMuxer
  fair: FairStreams

  /** What has come to the peer, of each stream in the order in which they were opened, in bytes */
  received: number[]
  hold(isHeld: boolean): void
}

/** Muxers of yamux, and a connection that is full when the test says so, as it is while a send window is */
function heldConnection (): Held {
  const [outbound, inbound] = multiaddrConnectionPair()
  const { send } = outbound
  const received: number[] = []
  let isHeld = false

  outbound.send = data => send.call(outbound, data) && !isHeld

  const factory = yamux({ enableKeepAlive: false })()
  const muxer = factory.createStreamMuxer(outbound)

  // js-yamux answers each frame with a window update
  factory.createStreamMuxer(inbound).addEventListener('stream', ({ detail: stream }: CustomEvent<Stream>) => {
    const index = received.push(0) - 1

    stream.addEventListener('message', ({ data }) => { received[index] += data.byteLength })
  })

  return {
    muxer,
    fair: new FairStreams(muxer.streams, { frameBytes: FRAME, isHeld: true }),
    received,
    hold (held) {
      isHeld = held

      if (!held) {
        outbound.dispatchEvent(new Event('drain'))
      }
    }
  }
}

describe('streams of a connection that must not be filled', () => {
  it('send no more with each window update of the peer if they have much, and others pass them', async () => {
    const { muxer, fair, received, hold } = heldConnection()
    const bulk = await muxer.createStream()
    const small = await muxer.createStream()

    fair.adopt()
    hold(true)
    bulk.send(new Uint8Array(MiB))
    small.send(new Uint8Array(100))
    await until(() => received[1] === 100, 'the small message has come')
    // updates come and go
    await wait(200)
    expect(received).to.deep.equal([FRAME, 100])

    hold(false)
    await until(() => received[0] === MiB, 'all has come')
    muxer.abort(new Error('The test is over'))
  })
})
