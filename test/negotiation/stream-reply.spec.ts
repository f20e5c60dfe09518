import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { turns } from '../fixtures/bytes.ts'
import { closed, until } from '../fixtures/waiting.ts'
import { muxerPair, muxers, readings } from './fixtures/muxers.ts'
import { HEADER, NOISE, counting, joined, message } from './fixtures/proposals.ts'
import type { FilterableStream } from '../../src/negotiation/proposal.ts'
import type { Stream, StreamMuxer } from '@libp2p/interface'

/** The reply to it is known byte for byte, and any other protocol is as good */
const PROTOCOL = '/noise'
const REPLY = NOISE
const NA = joined(HEADER, message('na'))

for (const [name, factory] of Object.entries(muxers)) {
  describe(`the reply on an optimistic stream of ${name}`, () => {
    /** Wait until `bytes` bytes were read, and a little longer */
    async function read (messages: Uint8Array[], bytes: number): Promise<Uint8Array> {
      await until(() => joined(...messages).byteLength >= bytes, 'all is read')
      await turns(5)

      return joined(...messages)
    }

    /** What an application reads that does not look at events */
    async function all (stream: Stream): Promise<number> {
      let bytes = 0

      for await (const data of stream) {
        bytes += data.byteLength
      }

      return bytes
    }

    it('is not waited for: the proposal and the data are there at once', async () => {
      const { open } = muxerPair(factory)
      const { local, remote } = await open(PROTOCOL)
      const got = readings(remote)

      expect(local.protocol).to.equal(PROTOCOL)
      local.send(counting(10))
      expect(await read(got, REPLY.byteLength + 10)).to.equalBytes(joined(REPLY, counting(10)))
    })

    it('may be split at each of its places', async () => {
      const { open, counted } = muxerPair(factory)

      for (let at = 1; at < REPLY.byteLength; at++) {
        const { local, remote } = await open(PROTOCOL)
        const got = readings(local)

        remote.send(REPLY.subarray(0, at))
        await turns(3)
        expect(got, 'nothing real before the whole reply').to.be.empty()
        remote.send(joined(REPLY.subarray(at), counting(at)))

        expect(await read(got, at), `split at ${at}`).to.equalBytes(counting(at))
        local.abort(new Error('done'))
      }

      expect(counted()).to.deep.equal({ accepted: REPLY.byteLength - 1 })
    })

    it('may come one byte at a time', async () => {
      const { open } = muxerPair(factory)
      const { local, remote } = await open(PROTOCOL)
      const got = readings(local)

      for (const byte of joined(REPLY, counting(3))) {
        remote.send(Uint8Array.of(byte))
        await turns(1)
      }

      expect(await read(got, 3)).to.equalBytes(counting(3))
      expect(got.every(message => message.byteLength > 0)).to.be.true()
    })

    it('gives what is glued behind it to the reader, once, and no empty message', async () => {
      const { open } = muxerPair(factory)

      for (const length of [0, 1, 2, 27, 28, 29, 64]) {
        const { local, remote } = await open(PROTOCOL)
        const got = readings(local)

        remote.send(joined(REPLY, counting(length)))
        await turns(3)
        remote.send(REPLY)

        expect(await read(got, length + REPLY.byteLength)).to.equalBytes(joined(counting(length), REPLY))
        expect(got.every(message => message.byteLength > 0)).to.be.true()
        local.abort(new Error('done'))
      }
    })

    it('may come before there is a reader', async () => {
      const { open } = muxerPair(factory)
      const { local, remote } = await open(PROTOCOL)

      remote.send(joined(REPLY, counting(5)))
      await turns(5)

      expect(await read(readings(local), 5)).to.equalBytes(counting(5))
    })

    it('is verified while the stream is paused, and what is behind it waits', async () => {
      const { open } = muxerPair(factory)
      const { local, remote } = await open(PROTOCOL)
      const got = readings(local)

      local.pause()
      remote.send(joined(REPLY, counting(5)))
      await turns(5)
      expect(got).to.be.empty()

      local.resume()
      expect(await read(got, 5)).to.equalBytes(counting(5))
    })

    const endings: Record<string, (remote: Stream, listener: StreamMuxer) => unknown> = {
      resets: remote => { remote.abort(new Error('no such protocol')) },
      'sends FIN': async remote => remote.close(),
      'closes the connection': async (remote, listener) => listener.close()
    }

    for (const [ending, end] of Object.entries(endings)) {
      it(`of another kind is what the stream ends with, also if the peer ${ending} right behind it`, async () => {
        const { connection, counted, listener, open } = muxerPair(factory)
        const { local, remote } = await open(PROTOCOL)
        const close = closed(local)
        const read = all(local)

        connection.pause()
        remote.send(NA)
        await Promise.race([end(remote, listener), turns(5)])
        connection.resume()

        expect((await close).error).to.have.property('name', 'UnsupportedProtocolError')
        await expect(read).to.eventually.be.rejected.with.property('name', 'UnsupportedProtocolError')
        expect(counted()).to.deep.equal({ refused: 1 })
      })
    }

    it('that never comes because the connection is over, is not an empty answer', async () => {
      const { connection, counted, open } = muxerPair(factory)
      const { local } = await open(PROTOCOL)
      const close = closed(local)
      const read = all(local)

      await connection.close()

      expect((await close).error).to.have.property('name', 'ConnectionClosedError')
      await expect(read).to.eventually.be.rejected.with.property('name', 'ConnectionClosedError')
      expect(counted()).to.deep.equal({ unanswered: 1 })
    })

    it('comes with the answer and the end of the connection, and a stream that is closing has closed', async () => {
      const { open } = muxerPair(factory)
      const { local, remote } = await open(PROTOCOL)
      const got = readings(local)
      const closing = local.close()

      // as a muxer does where the peer's last frame is right behind
      local.addEventListener('message', () => { (local as unknown as FilterableStream).onTransportClosed() })
      remote.send(joined(REPLY, counting(4)))
      await closing

      expect(joined(...got)).to.equalBytes(counting(4))
      expect(local.status).to.equal('closed')
    })

    it('comes with what makes the reader abort a stream that is closing, and no FIN follows', async () => {
      const { open } = muxerPair(factory)
      const { local, remote } = await open(PROTOCOL)
      const ended = closed(remote)
      let isFin = false

      remote.addEventListener('remoteCloseWrite', () => { isFin = true })
      local.addEventListener('message', () => { local.abort(new Error('enough')) })
      const closing = local.close()
      remote.send(joined(REPLY, counting(1)))

      await expect(closing).to.eventually.be.rejected.with.property('name', 'StreamStateError')
      await ended
      await turns(5)
      expect(isFin).to.be.false()
    })

    it('closes a stream whose close() is given up in that very moment', async () => {
      const { counted, open } = muxerPair(factory)
      const { local, remote } = await open(PROTOCOL)
      const controller = new AbortController()
      const close = closed(local)
      local.addEventListener('message', () => { controller.abort() })

      const closing = local.close({ signal: controller.signal }).catch(() => {})
      remote.send(joined(REPLY, counting(1)))
      await remote.close()
      await closing

      expect((await close).error).to.be.undefined()
      expect(counted()).to.deep.equal({ accepted: 1 })
    })

    it('of another kind closes the stream with an UnsupportedProtocolError, and no other', async () => {
      const { open, counted } = muxerPair(factory)
      const other = await open(PROTOCOL)
      const others = readings(other.local)
      let refused = 0

      for (const bytes of [NA, message('na'), joined(HEADER, REPLY), joined(HEADER, message('/noise', 2)), Uint8Array.of(0)]) {
        const { local, remote } = await open(PROTOCOL)
        const got = readings(local)
        const close = closed(local)
        const ended = closed(remote)

        remote.send(bytes)

        expect((await close).error).to.have.property('name', 'UnsupportedProtocolError')
        await ended
        expect(got).to.be.empty()
        expect(counted()).to.deep.equal({ refused: ++refused })
      }

      other.remote.send(joined(REPLY, counting(4)))
      expect(await read(others, 4)).to.equalBytes(counting(4))
    })

    it('of another kind in any byte closes the stream', async () => {
      const { open, counted } = muxerPair(factory)

      for (let at = 0; at < REPLY.byteLength; at++) {
        const { local, remote } = await open(PROTOCOL)
        const close = closed(local)

        remote.send(joined(REPLY.with(at, REPLY[at] ^ 0x55), counting(40)))
        expect((await close).error, `at ${at}`).to.have.property('name', 'UnsupportedProtocolError')
      }

      expect(counted()).to.deep.equal({ refused: REPLY.byteLength })
    })

    it('that never comes because the peer closes its end, is missed, though nobody has refused', async () => {
      const { open, counted } = muxerPair(factory)

      for (const bytes of [0, 1, 20, 27]) {
        const { local, remote } = await open(PROTOCOL)
        const close = closed(local)

        if (bytes > 0) {
          remote.send(REPLY.subarray(0, bytes))
        }

        await remote.close()
        expect((await close).error, `after ${bytes} bytes`).to.have.property('name', 'UnsupportedProtocolError')
      }

      expect(counted()).to.deep.equal({ unanswered: 4 })
    })

    it('may have the end of the stream right behind it', async () => {
      const { open, counted } = muxerPair(factory)

      for (const length of [0, 1, 64]) {
        const { local, remote } = await open(PROTOCOL)
        const got = readings(local)
        const ended = pEvent(local, 'remoteCloseWrite')

        remote.send(joined(REPLY, counting(length)))
        await remote.close()
        await ended

        expect(joined(...got)).to.equalBytes(counting(length))
        expect(local.status).to.equal('open')
        await local.close()
        await until(() => local.status === 'closed', 'the stream is closed')
      }

      expect(counted()).to.deep.equal({ accepted: 3 })
    })

    it('that never comes because the peer resets the stream, is neither', async () => {
      const { open, counted } = muxerPair(factory)

      for (const bytes of [0, 1, 27]) {
        const { local, remote } = await open(PROTOCOL)
        const close = closed(local)

        if (bytes > 0) {
          remote.send(REPLY.subarray(0, bytes))
        }

        remote.abort(new Error('the remote resets'))
        expect((await close).error, `after ${bytes} bytes`).to.have.property('name', 'StreamResetError')
      }

      expect(counted()).to.deep.equal({ unanswered: 3 })
    })

    it('is not waited for by an abort', async () => {
      const { open, counted } = muxerPair(factory)
      const { local, remote } = await open(PROTOCOL)
      const reset = closed(remote)

      local.abort(new Error('enough'))
      expect((await reset).error).to.exist()
      expect(counted()).to.deep.equal({ aborted: 1 })
    })

    it('that comes after an abort hurts nobody', async () => {
      const { open } = muxerPair(factory)
      const { local, remote } = await open(PROTOCOL)
      const got = readings(local)

      remote.send(NA)
      local.abort(new Error('enough'))
      await turns(10)
      expect(got).to.be.empty()
      expect(local.status).to.equal('aborted')

      await both(await open(PROTOCOL))
    })

    /** Both ends of a stream work */
    async function both ({ local, remote }: { local: Stream, remote: Stream }): Promise<void> {
      const got = readings(local)
      remote.send(joined(REPLY, counting(4)))
      expect(await read(got, 4)).to.equalBytes(counting(4))
    }
  })
}
