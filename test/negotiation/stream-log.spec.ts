import { yamux } from '@libp2p/yamux'
import { expect } from 'aegir/chai'
import { optimistic } from '../../src/index.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { logLines } from '../fixtures/log-lines.ts'
import { ECHO, EAGER, bareNode, echoNode, firstByte, stacks } from './fixtures/stacks.ts'
import type { FilterableStream } from '../../src/optimistic/streams/filterable-stream.ts'
import type { NewStreamOptions, Stream, StreamMuxerFactory } from '@libp2p/interface'

/** A muxer whose streams have another way to take data */
function foreign (): StreamMuxerFactory {
  const factory: StreamMuxerFactory = yamux()()
  const createStreamMuxer = factory.createStreamMuxer.bind(factory)

  factory.createStreamMuxer = connection => {
    const muxer = createStreamMuxer(connection)
    const createStream = muxer.createStream.bind(muxer)

    muxer.createStream = async options => {
      const stream = await createStream(options)
      const { onData } = stream as FilterableStream & Stream

      return Object.assign(stream, { onData })
    }

    return muxer
  }

  return factory
}

describe('the log of a stream', () => {
  const defer = cleanUpAfterEach()

  it('tells how its protocol was negotiated, and why', async () => {
    const { logger, lines } = logLines(defer)
    const listener = await echoNode(defer, '127.0.0.1', { logger })
    const dialer = await bareNode(defer, { ...stacks['tcp() with both decorators'](), logger })
    const connection = await dialer.dial(listener.getMultiaddrs())

    const told: Array<[string | string[], NewStreamOptions, string]> = [
      [ECHO, {}, 'negotiate /test/echo/1.0.0 in full: the peer is not known to speak it'],
      [ECHO, {}, 'presume /test/echo/1.0.0: the peer is known to speak it'],
      [ECHO, EAGER, 'presume /test/echo/1.0.0: the caller vouches for it'],
      [ECHO, { negotiateFully: true }, 'negotiate /test/echo/1.0.0 in full: the caller wants it'],
      [ECHO, { maxOutboundStreams: 4 }, 'negotiate /test/echo/1.0.0 in full: one more stream may be too many for the peer'],
      [[ECHO, '/test/other/1.0.0'], {}, 'negotiate in full: there are several protocols']
    ]

    for (const [protocols, options, line] of told) {
      lines.length = 0
      // the fifth is one too many for libp2p too
      await connection.newStream(protocols, options).then(firstByte, () => {})
      expect(lines.some(logged => logged.includes(line))).to.equal(true, line)
    }
  })

  it('tells once that a stream of a muxer that is not built on @libp2p/utils is negotiated in full', async () => {
    const { logger, lines } = logLines(defer)
    const listener = await echoNode(defer, '127.0.0.1', { logger })
    const dialer = await bareNode(defer, { ...stacks['tcp() with both decorators'](), logger, streamMuxers: [optimistic(foreign)] })
    const connection = await dialer.dial(listener.getMultiaddrs())

    lines.length = 0
    expect(await firstByte(await connection.newStream(ECHO, EAGER))).to.equal(42)
    expect(lines.filter(line => line.includes('presume') || line.includes('proposal'))).to.deep.equal([])
    expect(lines.filter(line => line.includes('negotiate /test/echo/1.0.0 in full: the stream is not one of @libp2p/utils'))).to.have.lengthOf(1)
  })
})
