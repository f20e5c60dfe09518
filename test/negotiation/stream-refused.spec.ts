import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until } from '../fixtures/waiting.ts'
import { muxers } from './fixtures/muxers.ts'
import { ECHO, EAGER, echo, firstByte } from './fixtures/stacks.ts'
import { streamNodes } from './fixtures/stream-nodes.ts'
import type { StreamNodes } from './fixtures/stream-nodes.ts'

const UNKNOWN = '/test/unknown/1.0.0'

for (const [name, muxer] of Object.entries(muxers)) {
  describe(`a protocol that the peer refuses on an optimistic stream of ${name}`, () => {
    const defer = cleanUpAfterEach()

    async function refused (nodes: StreamNodes, protocol = UNKNOWN): Promise<void> {
      const before = nodes.counted().refused ?? 0

      // where the refusal comes while libp2p is still at work on the stream, that rejects
      const stream = await nodes.connection.newStream(protocol, EAGER).catch(err => {
        expect(err).to.have.property('name', 'UnsupportedProtocolError')
      })

      await until(() => stream == null || stream.status === 'aborted', 'the stream is closed')
      expect(nodes.counted().refused).to.be.above(before)
    }

    it('closes that stream with an UnsupportedProtocolError and no other', async () => {
      const nodes = await streamNodes(defer, { muxer })
      const other = await nodes.connection.newStream(ECHO, EAGER)

      expect(await firstByte(other)).to.equal(42)
      await refused(nodes)
      expect(await firstByte(other)).to.equal(42)
      expect(nodes.connection.status).to.equal('open')
      expect(nodes.counted()).to.deep.equal({ accepted: 1, refused: 1 })
      expect(nodes.connection.streams).to.deep.equal([other])
    })

    it('leaves the peer store as it was', async () => {
      const nodes = await streamNodes(defer, { muxer })
      await firstByte(await nodes.connection.newStream(ECHO))
      expect(await nodes.stored()).to.deep.equal([ECHO])

      await refused(nodes)
      await until(async () => !(await nodes.stored()).includes(UNKNOWN), 'the protocol is out of the peer store', 2_000)
      expect(await nodes.stored()).to.deep.equal([ECHO])
    })

    it('leaves the peer store as it was, also behind a stream that was aborted before its reply', async () => {
      const nodes = await streamNodes(defer, { muxer })
      await firstByte(await nodes.connection.newStream(ECHO))
      const release = nodes.holdReplies()
      const first = await nodes.connection.newStream(UNKNOWN, EAGER)
      first.abort(new Error('enough'))
      expect(await nodes.stored()).to.have.members([ECHO, UNKNOWN])

      release()
      await refused(nodes)
      await until(async () => !(await nodes.stored()).includes(UNKNOWN), 'the protocol is out of the peer store', 2_000)
      expect(await nodes.stored()).to.deep.equal([ECHO])
    })

    it('is negotiated in full the next time even if the peer spoke it before', async () => {
      const nodes = await streamNodes(defer, { muxer })
      await nodes.listener.handle(UNKNOWN, echo)
      await firstByte(await nodes.connection.newStream(UNKNOWN))
      await nodes.listener.unhandle(UNKNOWN)

      await refused(nodes)
      await expect(nodes.connection.newStream(UNKNOWN)).to.eventually.be.rejected.with.property('name', 'UnsupportedProtocolError')
      expect(nodes.counted()).to.deep.equal({ refused: 1 })
    })

    it('while the connection is being closed does not keep it open', async () => {
      const nodes = await streamNodes(defer, { muxer })
      const release = nodes.holdReplies()
      await nodes.connection.newStream(UNKNOWN, EAGER)

      const closing = nodes.connection.close()
      release()
      await closing

      expect(nodes.connection.status).to.equal('closed')
      expect(nodes.dialer.getConnections()).to.be.empty()
    })

    it('is out of the peer store when several are refused at once', async () => {
      const nodes = await streamNodes(defer, { muxer })
      const protocols = Array.from({ length: 5 }, (_, i) => `/test/unknown/${i}.0.0`)
      await firstByte(await nodes.connection.newStream(ECHO))

      await Promise.all(protocols.map(async protocol => refused(nodes, protocol)))
      expect(nodes.counted()).to.deep.equal({ refused: 5 })

      await until(async () => (await nodes.stored()).length === 1, 'the protocols are out of the peer store', 2_000)
      expect(await nodes.stored()).to.deep.equal([ECHO])
    })
  })
}
