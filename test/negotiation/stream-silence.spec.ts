import { noise } from '@libp2p/noise'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { tcp, yamux } from '../../src/index.ts'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { closed, within } from '../fixtures/waiting.ts'
import { stall } from '../fixtures/workers.ts'
import { EAGER, ECHO, bareNode, firstByte } from './fixtures/stacks.ts'
import { streamNodes } from './fixtures/stream-nodes.ts'

const UNKNOWN = '/test/unknown/1.0.0'

/** Instead of 10 s, in ms */
const TIMEOUT = 1_000

describe('a peer that does not reply to a proposal', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()

  it('has a replyTimeout of at least one millisecond', () => {
    for (const replyTimeout of [0, -1, NaN, '1s', true, 10n]) {
      expect(() => yamux({ replyTimeout: replyTimeout as any })).to.throw().with.property('name', 'InvalidParametersError')
    }

    expect(() => yamux({ replyTimeout: Infinity })).to.not.throw()
    expect(() => yamux({ replyTimeout: null as any })).to.not.throw()
    expect(() => yamux(null as any)).to.not.throw()
  })

  it('does not hold up the close of the connection', async () => {
    const { connection, dialer, holdReplies } = await streamNodes(defer)
    defer(holdReplies())
    const stream = await connection.newStream(ECHO, EAGER)

    stream.send(Uint8Array.of(1))
    await connection.close()

    expect(connection.status).to.equal('closed')
    expect(dialer.getConnections()).to.be.empty()
  })

  it('loses the stream after replyTimeout', async () => {
    const { connection, counted, holdReplies } = await streamNodes(defer, { replyTimeout: TIMEOUT })
    defer(holdReplies())
    const stream = await connection.newStream(ECHO, EAGER)

    expect((await closed(stream)).error).to.have.property('name', 'TimeoutError')
    expect(counted()).to.deep.equal({ unanswered: 1 })
    expect(connection.status).to.equal('open')
  })

  it('but seems not to, since our event loop stalled, is heard after all', async () => {
    const { says } = runChild(defer, 'echo-node.ts')
    const addr = multiaddr(await says())
    const dialer = await bareNode(defer, { transports: [tcp()], connectionEncrypters: [noise()], streamMuxers: [yamux({ replyTimeout: TIMEOUT })] })
    const connection = await dialer.dial(addr)
    const stream = await connection.newStream(ECHO, EAGER)
    const echoed = firstByte(stream)

    // what was sent leaves in a microtask
    process.nextTick(() => { stall(1.5 * TIMEOUT) })

    expect(await echoed).to.equal(42)
    expect(stream.status).to.equal('open')
  })

  it('lets a stream whose close() was given up close all the same when it replies late', async () => {
    const { connection, holdReplies } = await streamNodes(defer)
    const release = holdReplies()
    const stream = await connection.newStream(ECHO, EAGER)
    const close = closed(stream)

    stream.send(Uint8Array.of(1))
    await expect(stream.close({ signal: AbortSignal.timeout(50) })).to.eventually.be.rejected()
    release()

    expect((await close).error).to.equal(undefined)
    expect(connection.streams).to.be.empty()
  })
})

describe('a peer that refuses a proposal', () => {
  const defer = cleanUpAfterEach()

  it('fails the close() of a stream that was written and closed at once', async () => {
    const { connection, counted, holdReplies } = await streamNodes(defer)
    const release = holdReplies()
    const stream = await connection.newStream(UNKNOWN, EAGER)

    stream.send(Uint8Array.of(1))
    const close = within(5_000, 'close()', stream.close())
    // before that it could reject `newStream`
    release()
    await expect(close).to.eventually.be.rejected()
      .with.property('name', 'UnsupportedProtocolError')
    expect(counted()).to.deep.equal({ refused: 1 })
  })
})
