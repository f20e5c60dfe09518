import { noise } from '@libp2p/noise'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { tcp, yamux } from '../../src/index.ts'
import { Flag, FrameType } from '../../src/yamux/frames.ts'
import { KiB, MiB } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until } from '../fixtures/waiting.ts'
import { EAGER, ECHO, bareNode, echoNode, firstByte } from '../negotiation/fixtures/stacks.ts'
import { RawPeer, dataFrame, frame } from './fixtures/raw-peer.ts'
import type { RawPeerInit } from './fixtures/raw-peer.ts'
import type { YamuxStream } from '../../src/yamux/stream.ts'
import type { StreamCloseEvent } from '@libp2p/interface'

const defer = cleanUpAfterEach()

describe('an option of yamux()', () => {
  /** A stream that the peer has opened */
  async function opened (init: RawPeerInit): Promise<{ peer: RawPeer, stream: YamuxStream, ended: Promise<StreamCloseEvent> }> {
    const peer = new RawPeer(defer, init)

    peer.send(frame(FrameType.windowUpdate, Flag.syn, 1, 0))
    await peer.sync()

    return { peer, stream: peer.streams[0], ended: pEvent<'close', StreamCloseEvent>(peer.streams[0], 'close', { timeout: 5_000 }) }
  }

  it('maxMessageSize bounds the data of a frame', async () => {
    const { peer, stream } = await opened({ maxMessageSize: 2 * KiB })

    stream.send(new Uint8Array(100 * KiB))
    await until(() => peer.of(FrameType.data).reduce((sum, { length }) => sum + length, 0) === 100 * KiB, 'all is there')
    expect(Math.max(...peer.of(FrameType.data).map(({ length }) => length))).to.equal(2 * KiB)
  })

  it('maxOutboundStreams bounds the streams that are opened', async () => {
    const { muxer } = new RawPeer(defer, { isDialer: true, maxOutboundStreams: 2 })

    await muxer.createStream()
    await muxer.createStream()
    await expect(muxer.createStream()).to.eventually.be.rejected.with.property('name', 'TooManyOutboundProtocolStreamsError')
  })

  it('streamOptions.maxWriteBufferLength ends a stream that has more to send', async () => {
    const { stream, ended } = await opened({ streamOptions: { maxWriteBufferLength: MiB } })

    stream.send(new Uint8Array(MiB))
    expect(stream.status).to.equal('open')
    stream.send(new Uint8Array(MiB))
    expect((await ended).error).to.have.property('name', 'StreamBufferError')
  })

  it('streamOptions.maxReadBufferLength ends a paused stream with more unread', async () => {
    const { peer, stream, ended } = await opened({ streamOptions: { maxReadBufferLength: 100 * KiB } })

    stream.pause()
    peer.send(dataFrame(0, 1, new Uint8Array(100 * KiB)))
    await peer.sync()
    expect(stream.status).to.equal('open')
    peer.send(dataFrame(0, 1, new Uint8Array(1)))
    expect((await ended).error).to.have.property('name', 'StreamBufferError')
  })

  // libp2p looks at it nowhere so far
  it('streamOptions.inactivityTimeout is told to libp2p', async () => {
    expect((await opened({ streamOptions: { inactivityTimeout: 50 } })).stream).to.have.property('inactivityTimeout', 50)
  })

  it('optimistic: false negotiates each stream in full, also where the caller vouches for the protocol', async () => {
    const listener = await echoNode(defer)
    const dialer = await bareNode(defer, { transports: [tcp()], connectionEncrypters: [noise()], streamMuxers: [yamux({ optimistic: false })] })
    const connection = await dialer.dial(listener.getMultiaddrs())

    await expect(connection.newStream('/test/unknown/1.0.0', EAGER)).to.eventually.be.rejected.with.property('name', 'UnsupportedProtocolError')
    expect(await firstByte(await connection.newStream(ECHO, EAGER))).to.equal(42)
  })

  for (const [init, message] of [
    [{ maxUnread: '1' }, 'maxUnread of yamux() must be '],
    [{ streamOptions: { initialStreamWindowSize: KiB } }, 'streamOptions.initialStreamWindowSize of yamux() must be '],
    [{ sendWindows: false }, 'yamux() has no option sendWindows']
  ] as const) {
    it(`that is wrong is told: ${message}`, () => {
      expect(() => yamux(init as any)).to.throw(message).with.property('name', 'InvalidParametersError')
    })
  }
})
