import { expect } from 'aegir/chai'
import { readToEnd, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { collectRejections } from '../fixtures/rejections.ts'
import { closed, until } from '../fixtures/waiting.ts'
import { ECHO, EAGER, firstByte } from './fixtures/stacks.ts'
import { streamNodes } from './fixtures/stream-nodes.ts'
import type { StreamNodes } from './fixtures/stream-nodes.ts'
import type { Libp2p, PeerStore, Stream } from '@libp2p/interface'

const UNKNOWN = '/test/unknown/1.0.0'

/** The listener has the connection a little later than the dialer */
function streamsAt (node: Libp2p): Stream[] {
  return node.getConnections().flatMap(connection => connection.streams)
}

/** How a proposal may end, other than accepted */
const ENDINGS: Record<string, { protocol: string, end(nodes: StreamNodes, stream: Stream, release: () => void): void | Promise<void> }> = {
  refused: { protocol: UNKNOWN, end: (nodes, stream, release) => { release() } },
  reset: {
    protocol: ECHO,
    end: async (nodes, stream, release) => {
      await until(() => streamsAt(nodes.listener).length > 0, 'the peer has the stream')
      streamsAt(nodes.listener).forEach(stream => { stream.abort(new Error('no')) })
      release()
    }
  },
  closed: { protocol: ECHO, end: nodes => { nodes.connection.abort(new Error('gone')) } },
  silent: { protocol: ECHO, end: () => {} },
  aborted: { protocol: ECHO, end: (nodes, stream) => { stream.abort(new Error('enough')) } }
}

describe('an application that does not wait for the close of an optimistic stream', () => {
  const defer = cleanUpAfterEach()
  const rejections = collectRejections()

  for (const [ending, { protocol, end }] of Object.entries(ENDINGS)) {
    for (const known of [false, true]) {
      for (const awaited of [false, true]) {
        it(`lives on where the proposal is ${ending}, ${known ? 'known' : 'opted in'}, ${awaited ? 'awaited' : 'not awaited'}`, async () => {
          const nodes = await streamNodes(defer, { replyTimeout: 1_000 })

          if (known) {
            await nodes.listener.handle(UNKNOWN, () => {})
            const stream = await nodes.connection.newStream(protocol)
            stream.abort(new Error('done'))
            await until(() => streamsAt(nodes.listener).length === 0, 'the stream is gone at the peer')
            await nodes.listener.unhandle(UNKNOWN)
          }

          const release = nodes.holdReplies()
          defer(release)
          const stream = await nodes.connection.newStream(protocol, known ? {} : EAGER)
          const close = closed(stream)
          stream.send(Uint8Array.of(1))
          const closing = stream.close()

          if (awaited) {
            await Promise.all([
              // a reset may come behind the reply, when the end has left
              ending === 'reset' ? Promise.allSettled([closing]) : expect(closing).to.eventually.be.rejected(),
              end(nodes, stream, release)
            ])
          } else {
            await end(nodes, stream, release)
          }

          expect((await close).error).to.be.an('error')
          await turns(3)
          expect(rejections).to.be.empty()
        })
      }
    }
  }
})

describe('newStream of an optimistic stream', () => {
  const defer = cleanUpAfterEach()

  it('gives a stream that says so where the peer refuses while libp2p awaits its peer store, and harms no other stream', async () => {
    const nodes = await streamNodes(defer)
    const merge = nodes.dialer.peerStore.merge.bind(nodes.dialer.peerStore)
    nodes.dialer.peerStore.merge = async (...args: Parameters<PeerStore['merge']>) => {
      await until(() => nodes.counted().refused === 1, 'the peer has refused')

      return merge(...args)
    }

    const stream = await nodes.connection.newStream(UNKNOWN, EAGER)

    expect(() => stream.send(Uint8Array.of(1))).to.throw().with.property('name', 'UnsupportedProtocolError')
    await expect(stream.close()).to.eventually.be.rejected.with.property('name', 'UnsupportedProtocolError')
    await expect(readToEnd(stream)).to.eventually.be.rejected.with.property('name', 'UnsupportedProtocolError')
    expect(nodes.connection.status).to.equal('open')
    expect(await firstByte(await nodes.connection.newStream(ECHO, EAGER))).to.equal(42)
  })

  it('has its timeout end the proposal while the peer has not replied', async () => {
    const nodes = await streamNodes(defer)
    defer(nodes.holdReplies())
    const signal = AbortSignal.timeout(100)
    const stream = await nodes.connection.newStream(ECHO, { ...EAGER, signal })
    const { error } = await closed(stream)

    expect(error).to.equal(signal.reason)
    expect(() => stream.send(Uint8Array.of(1))).to.throw().that.equals(error)
    expect(nodes.counted()).to.deep.equal({ aborted: 1 })
  })

  it('outlives the signal of a caller that has it, and aborts what else it has begun', async () => {
    const nodes = await streamNodes(defer)
    const release = nodes.holdReplies()
    const controller = new AbortController()
    const stream = await nodes.connection.newStream(ECHO, { ...EAGER, signal: controller.signal })

    controller.abort()
    await turns(2)
    release()
    expect(await firstByte(stream)).to.equal(42)
    expect(nodes.counted()).to.deep.equal({ accepted: 1 })
  })

  it('has its signal end nothing once the peer has replied', async () => {
    const nodes = await streamNodes(defer)
    const controller = new AbortController()
    const stream = await nodes.connection.newStream(ECHO, { ...EAGER, signal: controller.signal })

    expect(await firstByte(stream)).to.equal(42)
    controller.abort()
    expect(await firstByte(stream)).to.equal(42)
  })

  it('leaves in the peer store what was there before a refusal, as libp2p does', async () => {
    const nodes = await streamNodes(defer)
    await nodes.dialer.peerStore.merge(nodes.listener.peerId, { protocols: [UNKNOWN] })

    await nodes.connection.newStream(UNKNOWN, EAGER).then(closed, () => {})
    await turns(5)
    expect(await nodes.stored()).to.include(UNKNOWN)
  })
})
