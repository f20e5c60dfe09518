import { multiaddrConnectionPair } from '@libp2p/utils'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { yamux } from '../../src/index.ts'
import { FIRST_WINDOW, Flag, FrameType } from '../../src/yamux/frames.ts'
import { KiB, MiB, collect, payload, readToEnd, sendAll, tally, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until, within } from '../fixtures/waiting.ts'
import { RawPeer, dataFrame, frame } from './fixtures/raw-peer.ts'
import type { YamuxOptions } from '../../src/index.ts'
import type { YamuxMuxer } from '../../src/yamux/muxer.ts'
import type { YamuxStream } from '../../src/yamux/stream.ts'
import type { MultiaddrConnection, Stream } from '@libp2p/interface'

const { syn, fin, rst } = Flag
const { data: DATA, windowUpdate: UPDATE, ping: PING, goAway: GO_AWAY } = FrameType
const defer = cleanUpAfterEach()
const hello = new TextEncoder().encode('hello')

interface Pair {
  client: YamuxMuxer
  server: YamuxMuxer
  connections: MultiaddrConnection[]

  /** Opens a stream, and returns both its ends */
  open(): Promise<[YamuxStream, YamuxStream]>
}

/** Two muxers. Who is told to echoes what comes on its streams */
function pair (init: YamuxOptions = {}, onStream: (stream: Stream) => void = () => {}): Pair {
  const connections = multiaddrConnectionPair({ capacity: 20 })
  const factory = yamux({ enableKeepAlive: false, ...init })()
  const [client, server] = connections.map(connection => factory.createStreamMuxer(connection))

  server.addEventListener('stream', ({ detail }) => { onStream(detail) })
  client.addEventListener('stream', ({ detail }) => { onStream(detail) })
  defer(() => { connections.forEach(connection => { connection.abort(new Error('The test is over')) }) })

  return {
    client,
    server,
    connections,
    async open () {
      const opened = pEvent<'stream', CustomEvent<YamuxStream>>(server, 'stream')
      const stream = await client.createStream()

      return [stream, (await opened).detail]
    }
  }
}

function echoTo (stream: Stream): void {
  stream.addEventListener('message', ({ data }) => { stream.send(data) })
  stream.addEventListener('remoteCloseWrite', () => { void stream.close() })
}

// by the names that tests of go-yamux and js-yamux have
describe('yamux as go-yamux and js-yamux test it', function () {
  this.timeout(10_000)

  it('ClientClient: two ends that have dialed end the connection', async () => {
    const peer = new RawPeer(defer, { isDialer: true })

    peer.send(frame(UPDATE, syn, 1, 0))
    expect(await peer.ended()).to.have.property('name', 'InvalidParametersError')
  })

  it('Ping: both ends, and callers at once share one', async () => {
    const { client, server } = pair()
    const peer = new RawPeer(defer)
    const both = [peer.muxer.ping(), peer.muxer.ping()]

    expect(await client.ping()).to.be.at.least(0)
    expect(await server.ping()).to.be.at.least(0)
    await until(() => peer.of(PING).length > 0, 'the ping')
    peer.send(frame(PING, Flag.ack, 0, peer.of(PING)[0].length))
    await Promise.all(both)
    expect(peer.of(PING)).to.have.length(1)
    expect(peer.muxer.getRTT()).to.be.at.least(0)
  })

  it('Accept: streams of both ends have ids of their own', async () => {
    const { client, server } = pair()
    const ids = [await client.createStream(), await server.createStream(), await client.createStream(), await server.createStream()].map(({ id }) => id)

    expect(ids).to.deep.equal(['1', '2', '3', '4'])
    await until(() => client.streams.length === 4 && server.streams.length === 4, 'all are open')
  })

  it('CloseBeforeAck: a stream that is closed before the peer has answered leaves nothing', async () => {
    const { client, server } = pair({}, stream => { void stream.close() })

    for (let i = 0; i < 300; i++) {
      await (await client.createStream()).close()
    }

    await until(() => client.streams.length === 0 && server.streams.length === 0, 'all have ended')
  })

  it('NonNilInterface, Close: a closed muxer opens nothing, and says why', async () => {
    const { client, server, connections } = pair()

    await client.close()
    await expect(client.createStream()).to.eventually.be.rejected.with.property('name', 'MuxerClosedError')
    await expect(client.ping()).to.eventually.be.rejected.with.property('name', 'MuxerClosedError')
    await until(() => server.status === 'closing', 'GoAway')
    await expect(server.createStream()).to.eventually.be.rejected.with.property('name', 'MuxerClosedError')
    expect(connections[0].status).to.equal('open')
  })

  for (const [streams, bytes] of [[1, 4 * MiB], [50, 100 * KiB], [200, 1_000]]) {
    it(`SendData, ManyStreams: ${streams} streams of ${bytes} bytes come back whole`, async () => {
      const { client } = pair({}, echoTo)

      await Promise.all(Array.from({ length: streams }, async () => {
        const data = payload(bytes)
        const stream = await client.createStream()
        const reading = readToEnd(stream)

        sendAll(stream, data)
        await stream.close()
        expect(await reading).to.deep.equal(tally(data))
      }))
      await until(() => client.streams.length === 0, 'all have ended')
    })
  }

  it('ManyStreams_PingPong: 100 streams take turns', async () => {
    const { client } = pair({}, echoTo)

    await Promise.all(Array.from({ length: 100 }, async () => {
      const stream = await client.createStream()

      for (let i = 0; i < 10; i++) {
        stream.send(hello)
        expect((await pEvent<'message', any>(stream, 'message')).data.subarray()).to.deep.equal(hello)
      }
    }))
  })

  it('HalfClose: the other end still sends, and closes for itself', async () => {
    const { open } = pair()
    const [near, far] = await open()

    near.send(hello)
    await near.close()
    expect(await readToEnd(far)).to.deep.equal(tally(hello))
    sendAll(far, payload(MiB))

    const closing = far.close()

    expect((await readToEnd(near)).bytes).to.equal(MiB)
    await closing
    await until(() => near.status === 'closed' && far.status === 'closed', 'both have ended')
  })

  it('HalfCloseSessionClose, ReadAfterClose: what came before the end is read, and then the error of what is missing', async () => {
    for (const end of [(connection: MultiaddrConnection) => { connection.abort(new Error('Killed')) }, (connection: MultiaddrConnection) => { void connection.close() }]) {
      const { open, connections } = pair()
      const [near, far] = await open()
      const closed = pEvent<'close', any>(far, 'close')
      const taken = collect(far)

      near.send(payload(100 * KiB))
      await until(() => taken.bytes === 100 * KiB, 'all is there')
      end(connections[0])
      expect((await closed).error).to.have.property('name', 'ConnectionClosedError')
      await expect(readToEnd(far)).to.eventually.be.rejected.with.property('name', 'ConnectionClosedError')
    }
  })

  it('StreamReset: a reader gets what came, and then the error. Others go on', async () => {
    const { open } = pair()
    const [near, far] = await open()
    const [other, otherFar] = await open()
    const reading = readToEnd(far)

    near.send(hello)
    await turns(3)
    near.abort(new Error('Enough'))
    await expect(reading).to.eventually.be.rejected.with.property('name', 'StreamResetError')
    other.send(hello)
    await other.close()
    expect(await readToEnd(otherFar)).to.deep.equal(tally(hello))
  })

  it('WindowOverflow, PartialReadWindowUpdate: a window is told of by parts that were read', async () => {
    const peer = new RawPeer(defer)

    peer.send(dataFrame(syn, 1, new Uint8Array(FIRST_WINDOW)))
    await peer.sync()

    const granted = (): number => peer.of(UPDATE).reduce((sum, { length }) => sum + length, 0)

    expect(granted()).to.equal(0)

    const [stream] = peer.streams

    const loop = stream[Symbol.asyncIterator]()

    expect((await loop.next()).value).to.have.property('byteLength', FIRST_WINDOW)
    await loop.return(undefined)

    await until(() => granted() === FIRST_WINDOW, 'all is granted again')
    stream.pause()
    peer.send(dataFrame(0, 1, new Uint8Array(FIRST_WINDOW)))
    await peer.sync()
    expect(granted()).to.equal(FIRST_WINDOW)
    peer.send(dataFrame(0, 1, hello))
    expect(await peer.ended()).to.have.property('name', 'ReceiveWindowExceededError')
  })

  for (const reason of [0, 1, 2, 7]) {
    it(`GoAway: reason ${reason} ${reason === 0 ? 'lets open streams end by themselves' : 'ends all'}`, async () => {
      const peer = new RawPeer(defer)

      peer.send(frame(UPDATE, syn, 1, 0), frame(GO_AWAY, 0, 0, reason))
      await until(() => peer.muxer.status !== 'open', 'GoAway')

      if (reason === 0) {
        peer.send(dataFrame(fin, 1, hello), frame(UPDATE, syn, 3, 0))
        expect(await readToEnd(peer.streams[0])).to.deep.equal(tally(hello))
        peer.streams[0].send(hello)
        await peer.sync()
        expect(peer.of(DATA)).to.have.length(1)
        expect(peer.of(UPDATE, rst, 3)).to.have.length(1)
      } else {
        expect(peer.streams[0].status).to.equal('aborted')
        expect(await peer.ended(), 'the connection is of no use').to.have.property('name', 'MuxerClosedError')
      }
    })
  }

  it('KeepAlive: a ping leaves at once, then in each interval, until the close', async () => {
    const peer = new RawPeer(defer, {
      enableKeepAlive: true,
      keepAliveInterval: 20,
      onFrame ({ type, flags, length }, peer) {
        if (type === PING && flags === syn) {
          peer.send(frame(PING, Flag.ack, 0, length))
        }
      }
    })

    await until(() => peer.of(PING, syn).length >= 5, 'five pings')
    expect(peer.of(PING, syn).slice(0, 5).map(({ length }) => length)).to.deep.equal([0, 1, 2, 3, 4])
    await within(1_000, 'close', peer.muxer.close())
    expect(peer.of(GO_AWAY).length).to.be.at.most(1)
  })
})
