import { defaultLogger } from '@libp2p/logger'
import { AbstractMultiaddrConnection } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { yamux } from '../../src/index.ts'
import { encodeProposal } from '../../src/optimistic/codec.ts'
import { FIRST_WINDOW, Flag, FrameType, HEADER_BYTES } from '../../src/yamux/frames.ts'
import { KiB, MiB, readToEnd, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { collectGarbage } from '../fixtures/garbage.ts'
import { until, within } from '../fixtures/waiting.ts'
import { InOrder, numbered } from '../flow/fixtures/numbered.ts'
import { line, openStream } from '../flow/fixtures/stacks.ts'
import { RawPeer, dataFrame, frame } from './fixtures/raw-peer.ts'
import type { RawPeerInit } from './fixtures/raw-peer.ts'
import type { YamuxStream } from '../../src/yamux/stream.ts'
import type { SendResult } from '@libp2p/utils'
import type { Uint8ArrayList } from 'uint8arraylist'

const { syn, ack, fin } = Flag
const { data: DATA, windowUpdate: UPDATE } = FrameType
const defer = cleanUpAfterEach()
const some = new TextEncoder().encode('something')

async function opened (init: RawPeerInit = {}): Promise<{ peer: RawPeer, stream: YamuxStream }> {
  const peer = new RawPeer(defer, init)

  peer.send(frame(UPDATE, syn, 1, 0))
  await peer.sync()

  return { peer, stream: peer.streams[0] }
}

/** Takes over what would end the process */
function collectUncaught (): unknown[] {
  const uncaught: unknown[] = []
  const before = process.listeners('uncaughtException')
  const onUncaught = (err: unknown): void => { uncaught.push(err) }

  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', onUncaught)
  defer(() => {
    process.off('uncaughtException', onUncaught)
    before.forEach(listener => { process.on('uncaughtException', listener) })
  })

  return uncaught
}

/** A connection that takes all at once, whatever it says, until it fails */
class Recording extends AbstractMultiaddrConnection {
  /** In bytes */
  sent = 0
  canSendMore = true
  failsAfter = Infinity

  /** The other end, which has the data before `send` returns */
  other?: Recording

  constructor (direction: 'inbound' | 'outbound' = 'inbound') {
    super({ direction, log: defaultLogger().forComponent('test'), remoteAddr: multiaddr('/memory/1') })
  }

  sendData (data: Uint8ArrayList): SendResult {
    const { byteLength } = data

    if (this.sent > this.failsAfter) {
      throw new Error('The encrypter has failed')
    }

    this.sent += byteLength
    this.other?.onData(data.sublist())

    return { sentBytes: byteLength, canSendMore: this.canSendMore }
  }

  sendReset (): void {}

  async sendClose (): Promise<void> {}

  sendPause (): void {}

  sendResume (): void {}
}

describe('a stream of yamux', function () {
  this.timeout(10_000)

  it('has what a listener answers leave before the connection returns from a message', async () => {
    const connection = new Recording()
    const muxer = yamux({ enableKeepAlive: false })().createStreamMuxer(connection)

    muxer.addEventListener('stream', ({ detail: stream }) => {
      stream.addEventListener('message', () => { stream.send(some) })
    })
    await Promise.resolve()
    connection.onData(frame(UPDATE, syn, 1, 0))
    expect(connection.sent).to.equal(0)
    connection.onData(dataFrame(0, 1, some))
    expect(connection.sent).to.equal(HEADER_BYTES + some.byteLength)
    connection.abort(new Error('The test is over'))
  })

  for (const flags of [0, fin]) {
    it(`sends no more when its connection has ended${flags === fin ? ', while the FIN of the peer waits for a reader' : ''}`, async () => {
      const connection = new Recording()
      const muxer = yamux({ enableKeepAlive: false })().createStreamMuxer(connection)

      muxer.addEventListener('stream', ({ detail }) => { detail.protocol = '/a/1.0.0' })
      await Promise.resolve()
      connection.onData(dataFrame(syn | flags, 1, some))
      await turns(2)

      const [stream] = muxer.streams

      // the connection has all, and is full
      connection.canSendMore = false
      stream.send(some)
      await turns(1)
      expect(stream.send(some)).to.equal(false)
      expect(stream.writeBufferLength).to.equal(0)

      const drained = stream.onDrain()

      connection.abort(new Error('The line is cut'))
      await expect(drained).to.eventually.be.rejected.with.property('name', 'ConnectionClosedError')
      expect(() => { stream.send(some) }).to.throw().with.property('name', 'StreamStateError')
      await expect(stream.onDrain()).to.eventually.be.rejected()
    })
  }

  it('keeps what came before FIN for a reader that begins after the end of the connection, and ends when it is closed', async () => {
    const read = await opened()
    const closed = await opened()

    for (const { peer, stream } of [read, closed]) {
      stream.protocol = '/a/1.0.0'
      peer.send(dataFrame(fin, 1, some))
      await peer.sync()
      peer.end.abort(new Error('It leaves'))
      await peer.ended()
      expect(stream).to.have.property('writeStatus', 'closed')
    }

    expect(await readToEnd(read.stream)).to.have.property('bytes', some.byteLength)
    await closed.stream.close()
    await until(() => closed.stream.status === 'closed', 'the stream has ended')
  })

  it('sends all that is sent while it sends, in order, over a connection that delivers at once', async () => {
    const ends = [new Recording('outbound'), new Recording('inbound')]
    const [dialer, listener] = ends.map(connection => yamux({ enableKeepAlive: false })().createStreamMuxer(connection))
    const received: number[] = []
    let next = 0

    ends.forEach((end, i) => { end.other = ends[1 - i] })
    defer(() => { ends.forEach(end => { end.abort(new Error('The test is over')) }) })
    listener.addEventListener('stream', ({ detail: stream }) => {
      stream.addEventListener('message', ({ data }) => {
        received.push(data.subarray()[0])
        stream.send(data.subarray()[0] % 2 === 0 ? some : new Uint8Array(8 * KiB))
      })
    })
    await Promise.resolve()

    const stream = await dialer.createStream()
    const ask = (): void => { stream.send(new Uint8Array(8 * KiB).fill(next++)) }

    // nothing waits for the end of a turn
    await turns(10)
    stream.addEventListener('message', () => {
      if (next < 20) {
        ask()
      }
    })
    ask()
    await until(() => received.length === 20, 'all was answered', 1_000)
    expect(received).to.deep.equal(Array.from({ length: 20 }, (_, i) => i))
  })

  it('ends, and nothing is thrown at nobody, where a connection fails in the midst of what waited', async () => {
    const uncaught = collectUncaught()
    const connection = new Recording()
    const muxer = yamux({ enableKeepAlive: false, sendWindow: false })().createStreamMuxer(connection)

    muxer.addEventListener('stream', () => {})
    await Promise.resolve()
    connection.onData(frame(UPDATE, syn, 1, 0))
    await turns(2)

    const [stream] = muxer.streams

    stream.send(new Uint8Array(2 * MiB))
    connection.failsAfter = connection.sent + 128 * KiB
    connection.onData(frame(UPDATE, 0, 1, 4 * MiB))
    await until(() => stream.status === 'aborted', 'the stream has ended')
    await turns(3)
    expect(uncaught).to.deep.equal([])
  })

  it('refuses what is no bytes, and others lose nothing by it', async () => {
    const { peer, stream } = await opened()

    stream.send(some)

    for (const data of ['text', [1, 2], 8, new ArrayBuffer(8 * KiB), new Uint16Array(8), undefined]) {
      expect(() => { stream.send(data as any) }).to.throw().with.property('name', 'InvalidParametersError')
    }

    await until(() => peer.of(DATA).length === 1, 'the data is there')
    expect(peer.of(DATA)[0].data).to.deep.equal(some)
  })

  it('leaves small buffers to their owners as soon as `send` returns, also while others wait', async () => {
    const { peer, stream } = await opened()
    const small = new Uint8Array(4)

    stream.send(new Uint8Array(FIRST_WINDOW - 1))

    // the first fits in part, the second not at all
    for (let i = 0; i < 2; i++) {
      stream.send(small.fill(1))
      small.fill(2)
    }

    peer.send(frame(UPDATE, 0, 1, FIRST_WINDOW))
    await until(() => peer.of(DATA).reduce((sum, { length }) => sum + length, 0) === FIRST_WINDOW + 7, 'all is there')
    expect(peer.of(DATA).flatMap(({ data }) => [...data]).slice(FIRST_WINDOW - 1)).to.deep.equal(new Array(8).fill(1))
  })

  it('sends all before FIN if it is closed while it sends', async () => {
    const ends = [new Recording('outbound'), new Recording('inbound')]
    const [dialer, listener] = ends.map(connection => yamux({ enableKeepAlive: false })().createStreamMuxer(connection))
    let received = 0
    let atFin: number | undefined

    ends.forEach((end, i) => { end.other = ends[1 - i] })
    defer(() => { ends.forEach(end => { end.abort(new Error('The test is over')) }) })
    listener.addEventListener('stream', ({ detail: stream }) => {
      stream.addEventListener('message', ({ data }) => {
        received += data.byteLength
        stream.send(some)
      })
      stream.addEventListener('remoteCloseWrite', () => { atFin = received })
    })
    await Promise.resolve()

    const stream = await dialer.createStream()

    await turns(10)
    stream.addEventListener('message', () => { void stream.close() })
    stream.send(new Uint8Array(600_000))
    await until(() => atFin != null, 'FIN')
    expect(atFin).to.equal(600_000)
  })

  it('ends with its connection if both FINs wait', async () => {
    const peer = new RawPeer(defer, { isDialer: true })
    const stream = await peer.muxer.createStream({ protocol: '/a/1.0.0', negotiateFully: false })

    await until(() => peer.of(DATA, syn).length === 1, 'the proposal')
    peer.send(dataFrame(ack, 1, encodeProposal('/a/1.0.0')), frame(UPDATE, fin, 1, 0))
    await peer.sync()

    const closed = stream.close()

    expect(stream.isFinHeld).to.equal(true)
    peer.end.abort(new Error('It leaves'))
    await peer.ended()
    await closed.catch(() => {})
    await until(() => stream.status !== 'open' && stream.status !== 'closing', 'the stream has ended', 2_000)
    expect(peer.muxer.streams).to.be.empty()
  })

  for (const how of ['answers one of them', 'opens one']) {
    it(`does not wait behind ten that were given up, once the peer ${how}`, async () => {
      const peer = new RawPeer(defer, { isDialer: true })
      const given = await Promise.all(Array.from({ length: 10 }, async () => peer.muxer.createStream()))

      await turns(3)
      given.forEach(stream => { stream.abort(new Error('Given up')) })

      const next = peer.muxer.createStream()

      await peer.sync()
      peer.send(how === 'opens one' ? frame(UPDATE, syn, 2, 0) : dataFrame(ack, 1, some))
      await within(2_000, 'the next stream', next)
    })
  }

  it('waits for two seconds at most for a peer that answers pings no more', async () => {
    let answers = 2
    let received = 0
    const { stream } = await opened({
      onFrame ({ type, flags, length }, peer) {
        if (type === DATA) {
          received += length
          peer.send(frame(UPDATE, 0, 1, length))
        } else if (type === FrameType.ping && flags === syn && answers-- > 0) {
          peer.send(frame(FrameType.ping, Flag.ack, 0, length))
        }
      }
    })

    const end = performance.now() + 500
    let sent = 0

    while (performance.now() < end) {
      sent += 64 * KiB

      if (!stream.send(new Uint8Array(64 * KiB))) {
        await stream.onDrain()
      }
    }

    await stream.close()
    await until(() => received === sent, 'all is there')
    expect(performance.now() - end).to.be.below(2_500)
  })

  it('goes on where a listener throws', async () => {
    const uncaught = collectUncaught()
    const { peer, stream } = await opened()
    const taken: Uint8Array[] = []
    const fail = (): void => { throw new Error('Of a listener') }

    peer.muxer.addEventListener('stream', fail)
    stream.addEventListener('message', fail)
    stream.addEventListener('message', ({ data }) => { taken.push(data.subarray()) })
    stream.addEventListener('drain', fail)
    peer.send(dataFrame(0, 1, some), dataFrame(0, 1, some), dataFrame(syn, 3, some))
    await peer.sync()
    expect(taken).to.have.length(2)
    expect(peer.streams).to.have.length(2)

    stream.send(new Uint8Array(2 * FIRST_WINDOW))
    await turns(3)
    peer.send(frame(UPDATE, 0, 1, FIRST_WINDOW))
    await stream.onDrain()
    await stream.close()
    await until(() => peer.of(UPDATE, fin, 1).length === 1, 'FIN')
    expect(peer.of(DATA, 0, 1).reduce((sum, { length }) => sum + length, 0)).to.equal(2 * FIRST_WINDOW)
    expect(uncaught).to.have.length(4)
  })

  it('is not resumed by a loop if the application has paused it', async () => {
    const { peer, stream } = await opened()
    let read = 0
    const reading = (async () => {
      for await (const data of stream) {
        read += data.byteLength
      }
    })()

    stream.pause()

    for (let i = 0; i < 4; i++) {
      peer.send(dataFrame(0, 1, new Uint8Array(FIRST_WINDOW / 4)))
      await peer.sync()
    }

    expect(stream.readStatus).to.equal('paused')
    expect(read).to.equal(0)
    expect(peer.of(UPDATE).every(({ length }) => length === 0)).to.equal(true)
    stream.resume()
    await until(() => read === FIRST_WINDOW, 'all that was kept')
    peer.send(dataFrame(fin, 1, some))
    await reading
    expect(read).to.equal(FIRST_WINDOW + some.byteLength)
  })

  it('loses nothing to loops that break, whenever they do', async () => {
    const { peer, stream } = await opened()
    const taken = new InOrder()
    let sent = 0
    const send = (): void => {
      peer.send(dataFrame(0, 1, numbered(sent, 1_000)), dataFrame(0, 1, numbered(sent + 1_000, 3_000)))
      sent += 4_000
    }

    for (let round = 0; round < 60; round++) {
      send()

      for await (const data of stream) {
        taken.add(data)

        if (round % 3 === 0) {
          send()
          await turns(round % 5)
        }

        if (taken.bytes > 0) {
          break
        }
      }

      await turns(round % 2)
    }

    peer.send(dataFrame(fin, 1, new Uint8Array(0)))

    for await (const data of stream) {
      taken.add(data)
    }

    expect(taken.bytes).to.equal(sent)
  })

  for (const [title, prepare] of Object.entries<(stream: YamuxStream) => void>({
    nobody: () => {},
    'a paused handler': stream => {
      stream.addEventListener('message', () => {})
      stream.pause()
    },
    'a loop that waits': stream => { void stream[Symbol.asyncIterator]().next() }
  })) {
    it(`takes no more memory with single bytes that are read by ${title}`, async () => {
      const { peer, stream } = await opened()

      peer.send(dataFrame(0, 1, some))
      await peer.sync()
      prepare(stream)
      collectGarbage()

      const before = process.memoryUsage().heapUsed

      for (let round = 0; round < 15; round++) {
        peer.send(...Array.from({ length: 5_000 }, () => dataFrame(0, 1, some.subarray(0, 1))))
        await peer.sync()
      }

      collectGarbage()
      // the loop has asked for one message, which may be of many
      expect(peer.muxer.unread).to.be.at.least(65_000)
      // without care 15 MiB
      expect(process.memoryUsage().heapUsed - before).to.be.below(5 * MiB)
    })
  }

  it('is closed once, by all who close it', async () => {
    const { peer, stream } = await opened()
    let isClosed = false

    stream.send(new Uint8Array(2 * FIRST_WINDOW))

    const all = Promise.all([stream.close(), stream.close(), stream.closeWrite()]).then(() => { isClosed = true })

    expect(stream.writeStatus).to.equal('closing')
    await peer.sync()
    expect(isClosed, 'before all has left').to.equal(false)
    peer.send(frame(UPDATE, 0, 1, FIRST_WINDOW))
    await all
    await until(() => peer.of(UPDATE, fin).length > 0, 'FIN')
    await peer.sync()
    expect(peer.of(UPDATE, fin)).to.have.length(1)
  })

  it('fails for its reader and for who closes it if the connection ends in mid-transfer', async () => {
    for (const isKilled of [true, false]) {
      const { peer, stream } = await opened()
      const reading = readToEnd(stream)

      stream.send(new Uint8Array(2 * FIRST_WINDOW))

      const closing = stream.close()

      peer.send(dataFrame(0, 1, some), frame(DATA, 0, 1, 1_000, some))
      await turns(3)

      if (isKilled) {
        peer.end.abort(new Error('Killed'))
      } else {
        void peer.end.close()
      }

      await expect(reading).to.eventually.be.rejected.with.property('name').that.is.oneOf(['ConnectionClosedError', 'StreamResetError'])
      await expect(closing).to.eventually.be.rejected()
    }
  })

  it('delivers all that was sent before it, then its connection, was closed', async () => {
    const { listener, dialed } = await line(defer)
    const { outgoing, incoming } = await openStream(dialed, listener)
    const reading = readToEnd(incoming)

    outgoing.send(new Uint8Array(MiB))
    void outgoing.close()
    await dialed.close()
    expect((await within(5_000, 'the end', reading)).bytes).to.equal(MiB)
  })
})
