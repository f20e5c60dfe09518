import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { turns } from '../fixtures/bytes.ts'
import { closed, until } from '../fixtures/waiting.ts'
import { muxerPair, muxers, readAtLeast, readings } from './fixtures/muxers.ts'
import { NOISE, counting, joined } from './fixtures/proposals.ts'

/** The reply to it is known byte for byte, and any other protocol is as good */
const PROTOCOL = '/noise'
const REPLY = NOISE

for (const [name, factory] of Object.entries(muxers)) {
  describe(`the reply on an optimistic stream of ${name}`, () => {
    it('is not waited for: the proposal and the data are there at once', async () => {
      const { local, remote } = await muxerPair(factory).open(PROTOCOL)
      const got = readings(remote)

      expect(local.protocol).to.equal(PROTOCOL)
      local.send(counting(10))
      expect(await readAtLeast(got, REPLY.byteLength + 10)).to.equalBytes(joined(REPLY, counting(10)))
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

        expect(await readAtLeast(got, at), `split at ${at}`).to.equalBytes(counting(at))
        local.abort(new Error('done'))
      }

      expect(counted()).to.deep.equal({ accepted: REPLY.byteLength - 1 })
    })

    it('may come one byte at a time', async () => {
      const { local, remote } = await muxerPair(factory).open(PROTOCOL)
      const got = readings(local)

      for (const byte of joined(REPLY, counting(3))) {
        remote.send(Uint8Array.of(byte))
        await turns(1)
      }

      expect(await readAtLeast(got, 3)).to.equalBytes(counting(3))
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

        expect(await readAtLeast(got, length + REPLY.byteLength)).to.equalBytes(joined(counting(length), REPLY))
        expect(got.every(message => message.byteLength > 0)).to.be.true()
        local.abort(new Error('done'))
      }
    })

    it('may come before there is a reader', async () => {
      const { local, remote } = await muxerPair(factory).open(PROTOCOL)

      remote.send(joined(REPLY, counting(5)))
      await turns(5)

      expect(await readAtLeast(readings(local), 5)).to.equalBytes(counting(5))
    })

    it('is verified while the stream is paused, and what is behind it waits', async () => {
      const { local, remote } = await muxerPair(factory).open(PROTOCOL)
      const got = readings(local)

      local.pause()
      remote.send(joined(REPLY, counting(5)))
      await turns(5)
      expect(got).to.be.empty()

      local.resume()
      expect(await readAtLeast(got, 5)).to.equalBytes(counting(5))
    })

    it('comes with what makes the reader abort a stream that is closing, and no FIN follows', async () => {
      const { local, remote } = await muxerPair(factory).open(PROTOCOL)
      const ended = closed(remote)
      let isFin = false

      remote.addEventListener('remoteCloseWrite', () => { isFin = true })
      local.addEventListener('message', () => { local.abort(new Error('enough')) })
      const closing = local.close()
      remote.send(joined(REPLY, counting(1)))

      await expect(closing).to.eventually.be.rejectedWith('enough')
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
  })
}
