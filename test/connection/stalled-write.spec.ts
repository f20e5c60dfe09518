import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { TimeoutError } from '@libp2p/interface'
import { expect } from 'aegir/chai'
import { TCPStalledWriteError } from '../../src/index.ts'
import { testsAtOnce } from '../fixtures/all-at-once.ts'
import { KiB, MiB, payload, sendAll, sendPolitely, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { counters } from '../fixtures/counters.ts'
import { dialedPeer, rawClient, readSlowly } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { closed, openSockets, until, within } from '../fixtures/waiting.ts'
import { chattyPeer, stall } from '../fixtures/workers.ts'
import type { TCPOptions } from '../../src/index.ts'
import type { Defer } from '../fixtures/cleanup.ts'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Socket } from 'node:net'

const STALLED_WRITE_TIMEOUT = 400

/**
 * Sends what keeps the inactivity timeout from firing, and reads nothing
 */
function chat (socket: Socket): () => void {
  socket.pause()

  const chat = setInterval(() => {
    socket.write('.')
  }, 20)

  socket.on('close', () => { clearInterval(chat) })

  return () => { clearInterval(chat) }
}

async function dialed (defer: Defer, init: TCPOptions = { stalledWriteTimeout: STALLED_WRITE_TIMEOUT }): Promise<[MultiaddrConnection, Socket]> {
  const { conn, socket } = await dialedPeer(defer, init, { pauseOnConnect: true })

  return [conn, socket]
}

describe('the limit for writes that stall', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()

  async function expectCut (conn: MultiaddrConnection): Promise<void> {
    const { error, local } = await closed(conn, 20_000)

    expect(error).to.be.an.instanceOf(TCPStalledWriteError).and.an.instanceOf(TimeoutError)
    expect(error).to.have.property('name', 'TimeoutError')
    expect(error).to.have.property('remoteAddr', conn.remoteAddr)
    expect(error).to.have.property('message').that.includes(conn.remoteAddr.toString()).and.includes(`${STALLED_WRITE_TIMEOUT}ms`)
    expect(local).to.equal(true)
    expect(conn.status).to.equal('aborted')
  }

  it('cuts a peer that sends but never reads', async () => {
    const before = openSockets()
    const [conn, socket] = await dialed(defer)
    const begin = performance.now()

    defer(chat(socket))
    sendAll(conn, payload(32 * MiB))
    await expectCut(conn)

    // Node's timers may be a millisecond early
    expect(performance.now() - begin).to.be.greaterThan(STALLED_WRITE_TIMEOUT - 10)

    socket.destroy()
    await until(() => openSockets() <= before + 1, 'only the listening socket is left')
  })

  it('cuts one that dialed us, and counts it', async () => {
    const { metrics, labels } = counters()
    const raw = rawTransport(defer, { stalledWriteTimeout: STALLED_WRITE_TIMEOUT }, { metrics })
    const { port, next } = await raw.listen()

    defer(chat(await rawClient(defer, port)))

    const conn = await next()
    sendAll(conn, payload(32 * MiB))
    await expectCut(conn)

    expect(labels('libp2p_tcp_listener_events_total')).to.have.property(`127.0.0.1:${port} stalled_write`, 1)
  })

  it('cuts it also where little is left to send, after it has read much', async () => {
    const [conn, socket] = await dialed(defer)
    const sent = payload(8 * MiB)
    let received = 0

    socket.on('data', data => { received += data.byteLength })
    socket.resume()
    sendAll(conn, sent)
    await until(() => received === sent.byteLength, 'the peer has read all')

    defer(chat(socket))

    const cut = expectCut(conn)

    // the kernel's buffers grow while they fill
    await sendPolitely(conn, payload(64 * MiB), undefined, 16 * KiB).catch(() => {})
    await cut
  })

  it('ends a close() to such a peer', async () => {
    const [conn, socket] = await dialed(defer)

    defer(chat(socket))
    sendAll(conn, payload(32 * MiB))

    const closing = conn.close().catch(err => err)
    await expectCut(conn)
    expect(await within(1_000, 'close()', closing)).to.be.an.instanceOf(TCPStalledWriteError)
  })

  it('begins anew when something waits again', async () => {
    const [conn, socket] = await dialed(defer)

    sendAll(conn, payload(8 * MiB))
    socket.resume()
    await until(() => socket.bytesRead === 8 * MiB, 'the peer has read all')
    await delay(STALLED_WRITE_TIMEOUT)
    expect(conn.status).to.equal('open')

    defer(chat(socket))
    sendAll(conn, payload(32 * MiB))
    await expectCut(conn)
  })

  it('cuts no peer because the event loop was busy', async () => {
    const raw = rawTransport(defer, { stalledWriteTimeout: STALLED_WRITE_TIMEOUT })
    const peer = await chattyPeer(defer, 2)
    const conn = await raw.dial(`/ip4/127.0.0.1/tcp/${peer.port}`)
    const data = payload(16 * MiB)

    sendAll(conn, data)

    for (let i = 0; i < 3; i++) {
      stall(3 * STALLED_WRITE_TIMEOUT)
      await nextTurn()
    }

    await conn.close()
    expect(await peer.received).to.deep.equal(tally(data))
  })

  it('must not be negative', () => {
    for (const stalledWriteTimeout of [-1, NaN, '1' as unknown as number]) {
      expect(() => rawTransport(defer, { stalledWriteTimeout })).to.throw().with.property('name', 'InvalidParametersError')
    }
  })
})

describe('the limit for writes that stall leaves a peer alone that', function () {
  this.timeout(30_000)

  const itAtOnce = testsAtOnce()

  itAtOnce('reads slowly, however long it takes', async defer => {
    // a megabyte, which is written at a time, takes 400 ms, and more beside other work
    const [conn, socket] = await dialed(defer, { stalledWriteTimeout: 2_500 })
    const data = payload(12 * MiB)
    const begin = performance.now()
    const received = readSlowly(socket, { bytes: 128 * KiB, every: 50, replyEvery: 20 })

    sendAll(conn, data)
    await conn.close()

    expect(await received).to.deep.equal(tally(data))
    expect(performance.now() - begin).to.be.greaterThan(3_000)
  })

  itAtOnce('pauses for less than the limit', async defer => {
    const [conn, socket] = await dialed(defer, { stalledWriteTimeout: 2_000 })
    const data = payload(12 * MiB)
    const received = readSlowly(socket, { bytes: 4 * MiB, every: 5, replyEvery: 20, pauseFor: 1_000 })

    sendAll(conn, data)
    await conn.close()

    expect(await received).to.deep.equal(tally(data))
  })

  itAtOnce('gets nothing more', async defer => {
    const [conn, socket] = await dialed(defer)

    defer(chat(socket))
    conn.send(payload(KiB))
    await delay(STALLED_WRITE_TIMEOUT * 3)

    expect(conn.status).to.equal('open')
  })

  itAtOnce('reads nothing, with a limit of 0', async defer => {
    const [conn, socket] = await dialed(defer, { stalledWriteTimeout: 0 })

    defer(chat(socket))
    sendAll(conn, payload(32 * MiB))
    await delay(STALLED_WRITE_TIMEOUT * 3)

    expect(conn.status).to.equal('open')
  })
})
