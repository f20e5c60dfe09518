import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { KiB, MiB, payload, sendAll, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { until } from '../fixtures/waiting.ts'
import { chattyPeer, stall } from '../fixtures/workers.ts'
import type { TCPOptions } from '../../src/index.ts'
import type { RawTransport } from '../fixtures/raw.ts'
import type { ChattyPeer } from '../fixtures/workers.ts'
import type { MultiaddrConnection } from '@libp2p/interface'

/**
 * After a stall timers run before the sockets are looked at, so that a peer
 * that has never been quiet looks as if it had been
 */
describe('an event loop that stalls for 600 ms kills no live peer', function () {
  this.timeout(20_000)

  const defer = cleanUpAfterEach()

  async function connected (init?: TCPOptions): Promise<RawTransport & { conn: MultiaddrConnection, peer: ChattyPeer }> {
    const raw = rawTransport(defer, init)
    const peer = await chattyPeer(defer)
    const conn = await raw.dial(`/ip4/127.0.0.1/tcp/${peer.port}`)

    return { ...raw, conn, peer }
  }

  it('while a connection closes', async () => {
    const { conn, peer } = await connected()
    const data = payload(3 * MiB)

    sendAll(conn, data)
    const closing = conn.close()
    setImmediate(() => { stall(600) })
    await closing

    expect(await peer.received).to.deep.equal(tally(data))
  })

  it('while a closed connection lingers', async () => {
    const { conn, peer } = await connected()
    const data = payload(3 * MiB)

    sendAll(conn, data)
    await conn.close()
    stall(600)

    expect(await peer.received).to.deep.equal(tally(data))
  })

  it('while a transport stops whose peer has closed meanwhile', async () => {
    const { conn, peer, transport } = await connected()
    const data = payload(256 * KiB)

    sendAll(conn, data)
    const closing = conn.close()
    const stopping = transport.stop?.()
    setImmediate(() => { stall(600) })
    await Promise.all([closing, stopping])

    expect(await peer.received).to.deep.equal(tally(data))
  })

  it('with an inactivity timeout shorter than the stall', async () => {
    const { conn } = await connected({ outboundSocketInactivityTimeout: 400 })
    let messages = 0

    conn.addEventListener('message', () => { messages++ })
    await until(() => messages > 0, 'the peer chats')

    await nextTurn()
    stall(600)
    const before = messages
    await until(() => messages > before + 20 || conn.status !== 'open', 'the peer goes on chatting')

    expect(conn.status).to.equal('open')
  })

  it('with an inactivity timeout shorter than the stall while a connection closes', async () => {
    const { conn, peer } = await connected({ outboundSocketInactivityTimeout: 400 })
    const data = payload(6 * MiB)

    sendAll(conn, data)
    const closing = conn.close()
    setImmediate(() => { stall(600) })
    await closing

    expect(await peer.received).to.deep.equal(tally(data))
  })
})
