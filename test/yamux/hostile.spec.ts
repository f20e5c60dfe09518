import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { yamux } from '../../src/index.ts'
import { FIRST_WINDOW, Flag, FrameType, HEADER_BYTES } from '../../src/yamux/frames.ts'
import { KiB, MiB, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach, cleaningUp } from '../fixtures/cleanup.ts'
import { until } from '../fixtures/waiting.ts'
import { RawPeer, dataFrame, frame } from './fixtures/raw-peer.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

const { syn, ack, fin, rst } = Flag
const { data: DATA, windowUpdate: UPDATE, ping: PING, goAway: GO_AWAY } = FrameType
const defer = cleanUpAfterEach()
const some = new TextEncoder().encode('something')

function many (count: number, make: (i: number) => Uint8Array): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

describe('a peer that speaks yamux as it likes', function () {
  this.timeout(20_000)

  it('cannot fill memory with streams that are refused', async () => {
    const peer = new RawPeer(defer, { maxInboundStreams: 10 })

    // the muxer reminds a peer of its streams that has uploaded this much
    peer.send(dataFrame(syn, 1, new Uint8Array(100 * KiB)))

    for (let round = 0; round < 10; round++) {
      peer.send(...many(5_000, i => frame(UPDATE, syn, 3 + 2 * (5_000 * round + i), 0)))
      await peer.sync()
    }

    expect(peer.muxer.streams).to.have.length(10)
    expect(peer.of(UPDATE, rst)).to.have.length(50_001 - 10)

    // data of a refused one is skipped, and there is room again once one ends
    peer.send(dataFrame(0, 99_001, some), frame(UPDATE, rst, 1, 0), dataFrame(syn, 99_001, some), frame(UPDATE, syn, 99_003, 0))
    await peer.sync()
    expect(peer.streams).to.have.length(11)
    expect(peer.streams[10].readBufferLength).to.equal(some.byteLength)
  })

  const floods: Record<string, (i: number) => Uint8Array> = {
    pings: i => frame(PING, syn, 0, i),
    'streams that are refused': i => frame(UPDATE, syn, 2 * i + 1, 0)
  }

  for (const [title, make] of Object.entries(floods)) {
    it(`loses the connection if it reads nothing and floods it with ${title}`, async () => {
      const peer = new RawPeer(defer, { maxInboundStreams: 10 })

      peer.end.pause()

      for (let round = 0; round < 40 && peer.connection.status === 'open'; round++) {
        peer.send(...many(5_000, i => make(5_000 * round + i)))
        await turns(2)
      }

      expect(await peer.ended()).to.have.property('name', 'StreamBufferError')
    })
  }

  it('may end streams as soon as they begin', async () => {
    const peer = new RawPeer(defer, { maxInboundStreams: 10 })

    for (let round = 0; round < 10; round++) {
      peer.send(...many(500, i => dataFrame(syn | rst, 2 * (500 * round + i) + 1, some)))
      await peer.sync()
      expect(peer.muxer.streams).to.have.length(0)
      expect(peer.muxer.unread).to.equal(0)
    }

    expect(peer.streams).to.have.length(5_000)
  })

  it('may grant nothing, single bytes, or more than there can be', async () => {
    const peer = new RawPeer(defer)

    peer.send(frame(UPDATE, syn, 1, 0))
    await peer.sync()

    const [stream] = peer.streams
    const received = (): number => peer.of(DATA).reduce((sum, { length }) => sum + length, 0)

    stream.send(new Uint8Array(FIRST_WINDOW + MiB))
    await until(() => received() === FIRST_WINDOW, 'the window is used up')
    peer.send(...many(1_000, () => frame(UPDATE, 0, 1, 0)))
    await peer.sync()
    expect(received()).to.equal(FIRST_WINDOW)

    peer.send(...many(1_000, () => frame(UPDATE, 0, 1, 1)))
    await peer.sync()
    await until(() => received() === FIRST_WINDOW + 1_000, 'single bytes')

    peer.send(...many(1_000, () => frame(UPDATE, 0, 1, 2 ** 32 - 1)))
    await until(() => received() === FIRST_WINDOW + MiB, 'all')
    await stream.close()
    expect(peer.connection.status).to.equal('open')
  })

  it('may cut frames anywhere', async () => {
    const script = new Uint8Array(Buffer.concat([
      dataFrame(syn, 1, some), frame(UPDATE, 0, 1, 5), dataFrame(0, 7, some), dataFrame(0, 1, some), frame(PING, syn, 0, 9), dataFrame(fin, 1, some)
    ]))

    for (let at = 0; at <= script.byteLength; at++) {
      const peer = new RawPeer(defer)

      // what is sent is cut nowhere else
      peer.send(script.subarray(0, at))
      peer.send(script.subarray(at))
      await until(() => peer.of(PING, ack).length === 1, 'the ping is answered')

      const read: number[] = []

      for await (const data of peer.streams[0]) {
        read.push(...data.subarray())
      }

      expect(read, `cut at ${at}`).to.deep.equal([...some, ...some, ...some])
    }
  })

  it('never gets more memory for what nobody expects', async () => {
    const peer = new RawPeer(defer)

    peer.send(frame(UPDATE, syn | fin, 1, 0))
    await peer.sync()

    for (let i = 0; i < 100; i++) {
      // of a stream that it has closed, and of one that never was
      peer.send(dataFrame(0, 1, new Uint8Array(FIRST_WINDOW)), dataFrame(0, 77, new Uint8Array(FIRST_WINDOW)))
    }

    await peer.sync()
    expect(peer.muxer.unread).to.equal(0)
    expect(peer.streams[0].readBufferLength).to.equal(0)
    expect(peer.of(UPDATE).every(({ length }) => length === 0)).to.equal(true)
  })

  it('cannot make empty messages, which no window bounds', async () => {
    const peer = new RawPeer(defer)
    let messages = 0

    peer.send(frame(UPDATE, syn, 1, 0))
    await peer.sync()
    peer.streams[0].addEventListener('message', () => { messages++ })
    peer.send(...many(1_000, () => dataFrame(0, 1, new Uint8Array(0))), dataFrame(0, 1, some), dataFrame(fin, 1, new Uint8Array(0)))
    await peer.sync()
    expect(messages).to.equal(1)
  })

  it('is granted nothing for the data that comes with FIN, or behind it', async () => {
    const peer = new RawPeer(defer)
    const taken: Uint8Array[] = []

    peer.send(frame(UPDATE, syn, 1, 0))
    await peer.sync()
    peer.streams[0].addEventListener('message', ({ data }) => { taken.push(data.subarray()) })
    peer.send(dataFrame(fin, 1, new Uint8Array(FIRST_WINDOW)), dataFrame(0, 1, some))
    await peer.sync()
    expect(taken.map(({ byteLength }) => byteLength)).to.deep.equal([FIRST_WINDOW])
    expect(peer.of(UPDATE).every(({ length }) => length === 0)).to.equal(true)
  })

  const wrong: Array<[title: string, name: string, reason: number, frames: Uint8Array[]]> = [
    ['another version', 'InvalidFrameError', 1, [frame(PING, syn, 0, 1, undefined, 1)]],
    ['a type that there is not', 'InvalidFrameError', 1, [frame(4, 0, 1, 0)]],
    ['a ping of a stream', 'InvalidFrameError', 1, [frame(PING, syn, 1, 0)]],
    ['data of the connection', 'InvalidFrameError', 1, [dataFrame(0, 0, some)]],
    ['an update of the connection', 'InvalidFrameError', 1, [frame(UPDATE, 0, 0, 5)]],
    ['a ping without flags', 'InvalidFrameError', 1, [frame(PING, 0, 0, 1)]],
    ['an answer to no ping', 'UnRequestedPingError', 1, [frame(PING, ack, 0, 1)]],
    ['a stream of the wrong parity', 'InvalidParametersError', 2, [frame(UPDATE, syn, 2, 0)]],
    ['more than its window', 'ReceiveWindowExceededError', 1, [dataFrame(syn, 1, new Uint8Array(FIRST_WINDOW)), dataFrame(0, 1, some)]],
    ['more than any window, of no stream', 'ReceiveWindowExceededError', 1, [frame(DATA, 0, 5, 2 ** 31)]]
  ]

  for (const [title, name, reason, frames] of wrong) {
    it(`loses the connection for ${title}, and learns why`, async () => {
      const peer = new RawPeer(defer)

      peer.send(frame(UPDATE, syn, 101, 0))
      await peer.sync()
      peer.send(...frames)
      expect(await peer.ended()).to.have.property('name', name)
      expect(peer.streams[0].status).to.equal('aborted')
      await until(() => peer.of(GO_AWAY).length === 1, 'GoAway')
      expect(peer.of(GO_AWAY)[0].length).to.equal(reason)
    })
  }

  it('may set any flags on any stream, one that is not there included', async () => {
    for (const before of [[], [frame(UPDATE, syn, 1, 0)], [frame(UPDATE, syn, 1, 0), frame(UPDATE, rst, 1, 0)], [dataFrame(syn | fin, 1, some)]]) {
      for (let flags = 0; flags < 16; flags++) {
        const peer = new RawPeer(defer)

        peer.send(...before, frame(UPDATE, flags, 1, 7), dataFrame(flags, 1, some), frame(UPDATE, flags, 1, 0))
        await peer.sync()
        peer.streams.forEach(stream => { stream.abort(new Error('Enough')) })
        expect(peer.muxer.streams).to.have.length(0)
        expect(peer.muxer.unread).to.equal(0)
      }
    }
  })

  it('breaks nothing with random frames', async function () {
    const anyFrame = fc.record({
      type: fc.constantFrom(DATA, DATA, UPDATE, UPDATE, PING, GO_AWAY, 4),
      flags: fc.constantFrom(0, 0, 0, syn, syn, ack, fin, rst, syn | fin, syn | rst, 0xffff),
      streamId: fc.constantFrom(0, 1, 1, 3, 3, 5, 2, 2 ** 32 - 1),
      length: fc.oneof(fc.nat(20), fc.constantFrom(FIRST_WINDOW, 2 ** 32 - 1))
    })
    const names = ['InvalidFrameError', 'UnRequestedPingError', 'InvalidParametersError', 'ReceiveWindowExceededError', 'MuxerClosedError']

    await fc.assert(fc.asyncProperty(fc.array(anyFrame, { maxLength: 30 }), fc.nat(200), async (frames, cut) => {
      await cleaningUp(async defer => {
        const peer = new RawPeer(defer, { maxInboundStreams: 2 })
        const bytes = new Uint8Array(Buffer.concat(frames.map(({ type, flags, streamId, length }) => {
          return frame(type, flags, streamId, length, type === DATA && length <= 20 ? new Uint8Array(length) : undefined)
        })))

        peer.send(bytes.subarray(0, cut))
        peer.send(bytes.subarray(cut))
        // in case a frame waits for the rest of its data
        peer.send(new Uint8Array(FIRST_WINDOW), frame(0, 0, 0, 0, undefined, 1))
        expect(await peer.ended()).to.have.property('name').that.is.oneOf(names)
        expect(peer.muxer.streams).to.have.length(0)
        expect(peer.muxer.unread).to.equal(0)
      })
    }), { numRuns: 2_000, interruptAfterTimeLimit: 1_000 })
  })

  it('that holds most of what a node may hold unread loses its connection, and no other', async () => {
    const factory = yamux({ enableKeepAlive: false, maxUnread: MiB })()
    const peers = many(3, () => new Uint8Array()).map(() => new RawPeer(defer, { factory }))

    for (const [i, peer] of peers.entries()) {
      peer.send(...many(i + 1, n => dataFrame(syn, 2 * n + 1, new Uint8Array(150 * KiB))))
      await peer.sync()
    }

    peers[0].send(dataFrame(syn, 11, new Uint8Array(200 * KiB)))
    expect(await peers[2].ended()).to.have.property('name', 'StreamBufferError')
    await peers[0].sync()
    await peers[1].sync()
    expect(peers[0].muxer.unread).to.equal(350 * KiB)
    expect(peers[2].muxer.unread).to.equal(0)
  })

  for (const reader of ['nobody', 'a slow loop']) {
    it(`that sends single bytes in large messages makes a stream that ${reader} reads keep no more than those`, async () => {
      const peer = new RawPeer(defer)
      const message = new Uint8Array(2 * HEADER_BYTES + 1 + 64 * KiB)

      // one byte for the stream, and much for one that does not exist
      message.set(dataFrame(0, 1, Uint8Array.of(1)))
      message.set(frame(DATA, 0, 99, 64 * KiB), HEADER_BYTES + 1)
      peer.send(frame(UPDATE, syn, 1, 0))
      await peer.sync()

      const [stream] = peer.streams
      const loop = reader === 'nobody' ? undefined : stream[Symbol.asyncIterator]()
      const first = loop?.next()
      const kept = new Set<ArrayBufferLike>()
      const look = (data: Uint8Array | Uint8ArrayList): void => {
        for (const { buffer } of data instanceof Uint8Array ? [data] : data) {
          kept.add(buffer)
        }
      }

      for (let i = 0; i < 500; i++) {
        peer.send(message.slice())

        if (i % 50 === 0) {
          await peer.sync()
        }
      }

      await peer.sync()
      await first
      expect(peer.muxer.unread).to.be.within(499, 500)

      if (loop == null) {
        stream.addEventListener('message', ({ data }) => { look(data) })
      } else {
        for (let read = 1; read < 500; read++) {
          const { value } = await loop.next()

          look(value)
        }
      }

      await until(() => peer.muxer.unread === 0, 'all is read')
      expect([...kept].reduce((sum, { byteLength }) => sum + byteLength, 0)).to.be.within(499, 256 * KiB)
    })
  }

  for (const flags of [syn, syn | fin]) {
    it(`that leaves with data unread${(flags & fin) === 0 ? '' : ' behind its FIN'} counts no more for what a node may hold`, async () => {
      const factory = yamux({ enableKeepAlive: false, maxUnread: MiB })()

      for (let i = 0; i < 10; i++) {
        const peer = new RawPeer(defer, { factory })

        peer.muxer.addEventListener('stream', ({ detail }) => { detail.protocol = '/a/1.0.0' })
        peer.send(dataFrame(flags, 1, new Uint8Array(200 * KiB)))
        await peer.sync()
        expect(peer.muxer.unread).to.equal(200 * KiB)
        peer.end.abort(new Error('It leaves'))
        await peer.ended()
        expect(peer.muxer.unread).to.equal(0)
      }

      const peer = new RawPeer(defer, { factory })

      peer.send(...many(5, n => dataFrame(syn, 2 * n + 1, new Uint8Array(200 * KiB))))
      await peer.sync()
      peer.send(dataFrame(syn, 11, new Uint8Array(200 * KiB)))
      expect(await peer.ended()).to.have.property('name', 'StreamBufferError')
    })
  }
})
