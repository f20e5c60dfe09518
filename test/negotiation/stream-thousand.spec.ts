import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { ECHO, EAGER, firstByte } from './fixtures/stacks.ts'
import { streamNodes } from './fixtures/stream-nodes.ts'

const LIMITS = { maxInboundStreams: 2_000, maxOutboundStreams: 2_000 }

describe('an optimistic stream', () => {
  const defer = cleanUpAfterEach()

  it('is one of a thousand', async () => {
    const { connection, counted, dialer } = await streamNodes(defer)
    await dialer.handle(ECHO, () => {}, LIMITS)
    const streams = await Promise.all(Array.from({ length: 1_000 }, async () => connection.newStream(ECHO, EAGER)))
    const bytes = await Promise.all(streams.map(firstByte))

    expect(new Set(bytes)).to.deep.equal(new Set([42]))
    // as many as libp2p lets a peer open by default; the others wait for the answer of theirs
    expect(counted()).to.deep.equal({ accepted: 32 })

    await Promise.all(streams.map(async stream => {
      const close = pEvent(stream, 'close')
      await stream.close()
      await close
    }))
    expect(connection.streams).to.be.empty()
  })
})
