import { expect } from 'aegir/chai'
import { KiB, MiB, chunks, payload, tally, Tallier, sendPolitely, readToEnd } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { closed, until, within } from '../fixtures/waiting.ts'
import { muxers, readings } from './fixtures/muxers.ts'
import { counting, joined } from './fixtures/proposals.ts'
import { ECHO, EAGER, firstByte } from './fixtures/stacks.ts'
import { streamNodes } from './fixtures/stream-nodes.ts'
import type { Tally } from '../fixtures/bytes.ts'
import type { Libp2p, Stream } from '@libp2p/interface'

const SINK = '/test/sink/1.0.0'

for (const [name, muxer] of Object.entries(muxers)) {
  describe(`an optimistic stream of ${name}`, () => {
    const defer = cleanUpAfterEach()

    /** What each stream to the sink has brought by its end, in order of their ends */
    async function sink (node: Libp2p): Promise<Tally[]> {
      const ended: Tally[] = []

      await node.handle(SINK, async stream => {
        ended.push(await readToEnd(stream))
        await stream.close()
      })

      return ended
    }

    it('opens and brings its data while not one byte comes back', async () => {
      const { connection, listener, holdReplies, counted } = await streamNodes(defer, { muxer })
      const got: Uint8Array[] = []
      await listener.handle(SINK, stream => {
        stream.addEventListener('message', event => { got.push(event.data.subarray()) })
      })
      const release = holdReplies()

      const stream = await connection.newStream(SINK, EAGER)
      expect(stream.protocol).to.equal(SINK)
      stream.send(counting(100))

      await until(() => joined(...got).byteLength === 100, 'the data is there')
      expect(joined(...got)).to.equalBytes(counting(100))
      expect(counted()).to.deep.equal({})

      release()
      await until(() => counted().accepted === 1, 'the reply is there')
      expect(stream.status).to.equal('open')
    })

    it('that is never written opens the handler of the peer', async () => {
      const { connection, listener } = await streamNodes(defer, { muxer })
      const opened = Promise.withResolvers<Stream>()
      await listener.handle(SINK, stream => { opened.resolve(stream) })

      await connection.newStream(SINK, EAGER)
      expect(await within(10_000, 'the handler', opened.promise)).to.have.property('protocol', SINK)
    })

    it('that is closing when the connection is closed loses nothing', async () => {
      const { connection, listener } = await streamNodes(defer, { muxer })
      const ended = await sink(listener)
      const data = payload(100 * KiB)

      const stream = await connection.newStream(SINK, EAGER)
      await sendPolitely(stream, data)
      const closing = stream.close()
      await connection.close()
      await closing

      await until(() => ended.length === 1, 'the handler has read all')
      expect(ended).to.deep.equal([tally(data)])
    })

    it('that is only read gets all that the peer sends and its end', async () => {
      const { connection, listener } = await streamNodes(defer, { muxer })
      const data = payload(MiB)
      await listener.handle(SINK, async stream => {
        await sendPolitely(stream, data)
        await stream.close()
      })

      const stream = await connection.newStream(SINK, EAGER)
      const tallier = new Tallier()

      for await (const chunk of stream) {
        tallier.add(chunk.subarray())
      }

      expect(tallier.result()).to.deep.equal(tally(data))
    })

    for (const bytes of [0, 1, 1_000, 64 * 1024, MiB]) {
      it(`that is closed at once loses none of ${bytes} bytes`, async () => {
        const { connection, listener, counted } = await streamNodes(defer, { muxer })
        const ended = await sink(listener)
        const data = payload(bytes)

        const stream = await connection.newStream(SINK, EAGER)

        for (const chunk of chunks(data)) {
          stream.send(chunk)
        }

        const close = closed(stream)
        await stream.close()
        expect((await close).error).to.be.undefined()

        await until(() => ended.length === 1, 'the peer has read to the end')
        expect(ended).to.deep.equal([tally(data)])
        expect(counted()).to.deep.equal({ accepted: 1 })
      })
    }

    it('that is closed at once is half closed: the echo still comes', async () => {
      const { connection } = await streamNodes(defer, { muxer })
      const stream = await connection.newStream(ECHO, EAGER)
      const got = readings(stream)

      stream.send(counting(50))
      const close = closed(stream)
      await stream.close()
      await close

      expect(joined(...got)).to.equalBytes(counting(50))
    })

    it('that is aborted at once harms no other', async () => {
      const { connection, counted } = await streamNodes(defer, { muxer })
      const other = await connection.newStream(ECHO, EAGER)
      expect(await firstByte(other)).to.equal(42)

      const stream = await connection.newStream(ECHO, EAGER)
      stream.abort(new Error('enough'))

      expect(await firstByte(other)).to.equal(42)
      expect(connection.status).to.equal('open')
      expect(counted()).to.deep.equal({ accepted: 1, aborted: 1 })
      expect(connection.streams).to.deep.equal([other])
    })

    it('that is paused from the first moment gives nothing, and all when it is resumed', async () => {
      const { connection, counted } = await streamNodes(defer, { muxer })
      const stream = await connection.newStream(ECHO, EAGER)
      const got = readings(stream)

      stream.pause()
      stream.send(counting(50))
      await until(() => counted().accepted === 1, 'the reply was verified')
      expect(got).to.be.empty()

      stream.resume()
      await until(() => joined(...got).byteLength === 50, 'all is read')
      expect(joined(...got)).to.equalBytes(counting(50))
    })

    it('is not opened any more once the connection is being closed', async () => {
      const { connection, holdReplies } = await streamNodes(defer, { muxer })
      holdReplies()
      const stream = await connection.newStream(ECHO, EAGER)

      const closing = stream.close()
      const ending = connection.close()
      await expect(connection.newStream(ECHO, EAGER)).to.eventually.be.rejected.with.property('name', 'ConnectionClosedError')
      await ending
      await expect(closing).to.eventually.be.rejected.with.property('name', 'ConnectionClosedError')
    })

    it('keeps what an application puts in the place of its close()', async () => {
      const { connection } = await streamNodes(defer, { muxer })
      const stream = await connection.newStream(ECHO, EAGER)
      const close = stream.close.bind(stream)
      let calls = 0

      stream.close = async options => {
        calls++

        return close(options)
      }
      stream.send(Uint8Array.of(42))
      await stream.close()
      await closed(stream)
      await stream.close()

      expect(calls).to.equal(2)
    })

    it('is not opened any more if its signal has fired', async () => {
      const { connection, counted } = await streamNodes(defer, { muxer })

      await expect(connection.newStream(ECHO, { ...EAGER, signal: AbortSignal.abort() })).to.eventually.be.rejected.with.property('name', 'AbortError')
      expect(connection.streams).to.be.empty()
      expect(counted()).to.deep.equal({})
    })

    it('is not opened if its signal fires in the tick of the call', async () => {
      const { connection, counted } = await streamNodes(defer, { muxer })
      const controller = new AbortController()
      const opening = connection.newStream(ECHO, { ...EAGER, signal: controller.signal })

      controller.abort(new Error('enough'))
      await expect(opening).to.eventually.be.rejectedWith('enough')
      expect(connection.streams).to.be.empty()
      expect(counted()).to.deep.equal({})
    })

    it('rejects with its own error if the connection is aborted while it is opened', async () => {
      const { connection, counted } = await streamNodes(defer, { muxer })

      const opening = connection.newStream(ECHO, EAGER)
      connection.abort(new Error('enough'))

      await expect(opening).to.eventually.be.rejected.with.property('name', 'StreamStateError')
      expect(counted()).to.deep.equal({})
    })

    it('ends with an error when the connection does, before the reply', async () => {
      const { connection, holdReplies, counted } = await streamNodes(defer, { muxer })
      holdReplies()
      const stream = await connection.newStream(ECHO, EAGER)
      const close = closed(stream)

      connection.abort(new Error('gone'))
      await close
      expect(stream.status).to.not.equal('open')
      expect(counted()).to.deep.equal({ aborted: 1 })
    })
  })
}
