import { setTimeout as delay } from 'node:timers/promises'
import { noise } from '@libp2p/noise'
import { expect } from 'aegir/chai'
import { tcp, yamux } from '../../src/index.ts'
import { turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { until } from '../fixtures/waiting.ts'
import { ECHO, EAGER, bareNode, echo, echoNode, firstByte } from './fixtures/stacks.ts'
import { streamNodes } from './fixtures/stream-nodes.ts'
import type { Connection, NewStreamOptions } from '@libp2p/interface'

const UNKNOWN = '/test/unknown/1.0.0'

/** What does not wait for the peer is done within this, in ms; what waits for it never is */
const PATIENCE = 200

describe('whether a stream is negotiated optimistically', () => {
  const defer = cleanUpAfterEach()

  /** Whether `newStream` resolves while the peer cannot reply */
  async function waits (connection: Connection, hold: () => () => void, protocols: string | string[], options?: NewStreamOptions): Promise<boolean> {
    const release = hold()
    let opened = false
    const opening = connection.newStream(protocols, options).then(stream => {
      opened = true
      return stream
    })

    opening.catch(() => {})
    await Promise.race([opening, delay(PATIENCE)])
    // where the process was held up, too
    await turns(30)
    const waited = !opened
    release()
    const stream = await opening
    expect(await firstByte(stream)).to.equal(42)
    stream.abort(new Error('done'))

    return waited
  }

  it('is the word of the caller: negotiateFully: false', async () => {
    const { connection, holdReplies, counted } = await streamNodes(defer)

    expect(await waits(connection, holdReplies, ECHO, EAGER)).to.be.false()
    expect(counted()).to.deep.equal({ accepted: 1 })
  })

  it('is no, if nothing is known of the peer', async () => {
    const { connection, holdReplies, counted } = await streamNodes(defer)

    expect(await waits(connection, holdReplies, ECHO)).to.be.true()
    expect(counted()).to.deep.equal({})
  })

  it('is yes, if the protocol was negotiated with the peer before', async () => {
    const { connection, holdReplies, counted } = await streamNodes(defer)

    expect(await waits(connection, holdReplies, ECHO)).to.be.true()
    expect(await waits(connection, holdReplies, ECHO)).to.be.false()
    expect(counted()).to.deep.equal({ accepted: 1 })
  })

  it('is no, if the caller says negotiateFully: true, whatever is known', async () => {
    const { connection, holdReplies, counted } = await streamNodes(defer)

    await waits(connection, holdReplies, ECHO)
    expect(await waits(connection, holdReplies, ECHO, { negotiateFully: true })).to.be.true()
    expect(counted()).to.deep.equal({})
  })

  it('is no, if there are several protocols to choose from', async () => {
    const { connection, holdReplies, counted } = await streamNodes(defer)

    expect(await waits(connection, holdReplies, [UNKNOWN, ECHO], EAGER)).to.be.true()
    expect(await waits(connection, holdReplies, [ECHO, UNKNOWN], EAGER)).to.be.true()
    expect(counted()).to.deep.equal({})
  })

  it('is yes, if there is a list with one protocol', async () => {
    const { connection, holdReplies } = await streamNodes(defer)

    expect(await waits(connection, holdReplies, [ECHO], EAGER)).to.be.false()
  })

  it('is yes on a stream that the listener opens, too', async () => {
    const listener = await bareNode(defer, {
      addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
      transports: [tcp()],
      connectionEncrypters: [noise()],
      streamMuxers: [yamux()]
    })
    const dialer = await echoNode(defer)
    await dialer.dial(listener.getMultiaddrs())
    await until(() => listener.getConnections().length === 1, 'the listener has the connection')

    const stream = await listener.getConnections()[0].newStream(ECHO, EAGER)
    expect(stream.protocol).to.equal(ECHO)
    expect(await firstByte(stream)).to.equal(42)
  })

  it('is yes on the next connection to a peer that is known', async () => {
    const { connection, dialer, holdReplies } = await streamNodes(defer)

    expect(await waits(connection, holdReplies, ECHO)).to.be.true()
    await connection.close()

    expect(await waits(await dialer.dial(connection.remoteAddr), holdReplies, ECHO)).to.be.false()
  })

  it('is no, if the peer has only opened such streams itself', async () => {
    const { counted, dialer, listener, connection, stored } = await streamNodes(defer)
    await dialer.handle(UNKNOWN, echo)
    await until(() => listener.getConnections().length === 1, 'the listener has the connection')
    const theirs = await listener.getConnections()[0].newStream(UNKNOWN)

    expect(await firstByte(theirs)).to.equal(42)
    expect(await stored()).to.deep.equal([UNKNOWN])
    await expect(connection.newStream(UNKNOWN)).to.eventually.be.rejected.with.property('name', 'UnsupportedProtocolError')
    expect(counted()).to.deep.equal({})
  })

  it('is yes, if identify has told that the peer speaks it', async () => {
    const { connection, holdReplies, identified } = await streamNodes(defer, { identified: true })
    await identified

    expect(await waits(connection, holdReplies, ECHO)).to.be.false()
  })
})
