import { expect } from 'aegir/chai'
import { turns, readToEnd } from '../fixtures/bytes.ts'
import { closed } from '../fixtures/waiting.ts'
import { muxerPair, muxers, readAtLeast, readings } from './fixtures/muxers.ts'
import { HEADER, NOISE, counting, joined, message } from './fixtures/proposals.ts'
import type { Stream, StreamMuxer } from '@libp2p/interface'

/** The reply to it is known byte for byte, and any other protocol is as good */
const PROTOCOL = '/noise'
const REPLY = NOISE
const NA = joined(HEADER, message('na'))

/** Both ends of a stream work */
async function both ({ local, remote }: { local: Stream, remote: Stream }): Promise<void> {
  const got = readings(local)
  remote.send(joined(REPLY, counting(4)))
  expect(await readAtLeast(got, 4)).to.equalBytes(counting(4))
}

for (const [name, factory] of Object.entries(muxers)) {
  describe(`another reply, or none, on an optimistic stream of ${name}`, () => {
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
        const read = readToEnd(local)

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
      const read = readToEnd(local)

      await connection.close()

      expect((await close).error).to.have.property('name', 'ConnectionClosedError')
      await expect(read).to.eventually.be.rejected.with.property('name', 'ConnectionClosedError')
      expect(counted()).to.deep.equal({ unanswered: 1 })
    })

    for (const [kind, end, name] of [
      ['of another kind', async remote => { remote.send(NA) }, 'UnsupportedProtocolError'],
      ['that the peer ends the stream before', async remote => remote.close(), 'UnsupportedProtocolError'],
      ['that the peer resets the stream before', async remote => { remote.abort(new Error('no')) }, 'StreamResetError']
    ] satisfies Array<[string, (remote: Stream) => Promise<void>, string]>) {
      it(`${kind} is no empty answer to a reader that begins afterwards`, async () => {
        const { local, remote } = await muxerPair(factory).open(PROTOCOL)
        const close = closed(local)

        await end(remote)
        await close

        await expect(readToEnd(local)).to.eventually.be.rejected.with.property('name', name)
      })
    }

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
      expect(await readAtLeast(others, 4)).to.equalBytes(counting(4))
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

    it('is not waited for by an abort', async () => {
      const { open, counted } = muxerPair(factory)
      const { local, remote } = await open(PROTOCOL)
      const reset = closed(remote)

      local.abort(new Error('enough'))
      expect((await reset).error).to.exist()
      expect(counted()).to.deep.equal({ aborted: 1 })
    })

    it('that comes after an abort changes nothing', async () => {
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
  })
}
