import net from 'node:net'
import { expect } from 'aegir/chai'
import { ifInactive } from '../../src/connection/liveness.ts'
import { MiB, payload, sendAll } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { dialedPeer, rawClient, rawPeer, readAll } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { closed, until, within } from '../fixtures/waiting.ts'
import type { SlowReadResult } from '../fixtures/peers.ts'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Socket } from 'node:net'

const INACTIVITY_TIMEOUT = 200

describe('the inactivity timeout', function () {
  this.timeout(20_000)

  const defer = cleanUpAfterEach()

  async function dialed (): Promise<[MultiaddrConnection, Socket]> {
    const { conn, socket } = await dialedPeer(defer, { outboundSocketInactivityTimeout: INACTIVITY_TIMEOUT }, { pauseOnConnect: true })

    return [conn, socket]
  }

  /**
   * A socket that was cut delivers less than was sent
   */
  async function expectCut (socket: Socket, sent: number): Promise<void> {
    const result: SlowReadResult = await within(5_000, 'being cut', readAll(socket))

    expect(result.bytes).to.be.lessThan(sent)
  }

  it('closes an idle connection that we dialed', async () => {
    const [conn] = await dialed()
    const { error } = await closed(conn, 5_000)

    expect(error).to.have.property('name', 'TimeoutError')
    expect(conn.status).to.equal('aborted')
  })

  it('closes an idle connection that we accepted', async () => {
    const { port, next } = await rawTransport(defer, { inboundSocketInactivityTimeout: INACTIVITY_TIMEOUT }).listen()
    const received = readAll(await rawClient(defer, port))
    const { error } = await closed(await next(), 5_000)

    expect(error).to.have.property('name', 'TimeoutError')
    await within(1_000, 'noticing', received)
  })

  it('begins anew where something was sent just when it was over, and the peer took nothing of it', async () => {
    const { port } = await rawPeer(defer, { pauseOnConnect: true })
    const socket = net.connect({ host: '127.0.0.1', port })
    defer(() => socket.destroy())
    let timeouts = 0
    let calls = 0

    // more than the kernel takes
    socket.write(payload(64 * MiB))
    socket.setTimeout(INACTIVITY_TIMEOUT)
    socket.on('timeout', () => {
      timeouts++
      ifInactive(socket, () => { calls++ })

      if (timeouts === 1) {
        socket.write('.')
      }
    })

    await until(() => calls > 0, 'it was inactive again', 5_000)
    expect(timeouts).to.be.above(1)
  })

  it('leaves a connection alone on which something happens', async () => {
    const [conn, socket] = await dialed()
    const begin = performance.now()
    let messages = 0

    conn.addEventListener('message', () => { messages++ })

    const writes = setInterval(() => { socket.write('.') }, INACTIVITY_TIMEOUT / 10)
    defer(() => { clearInterval(writes) })
    await until(() => performance.now() - begin > INACTIVITY_TIMEOUT * 4, 'time has passed')

    expect(conn.status).to.equal('open')
    expect(messages).to.be.greaterThan(1)
  })

  it('leaves a close() alone that waits for the FIN of the peer', async () => {
    const { conn, socket } = await dialedPeer(defer, { outboundSocketInactivityTimeout: 100, closeTimeout: 400 })
    socket.resume()
    const event = closed(conn)

    await within(5_000, 'close()', conn.close())

    expect(conn.status).to.equal('closed')
    expect((await event).error).to.equal(undefined)
    expect(socket.destroyed).to.equal(false)
  })

  it('fault 2: closes a connection whose peer has sent its FIN and never reads', async () => {
    const [conn, socket] = await dialed()

    sendAll(conn, payload(32 * MiB))
    socket.end()

    const { error } = await closed(conn, 5_000)
    expect(error).to.have.property('name', 'TimeoutError')
    await expectCut(socket, 32 * MiB)
  })

  it('fault 2: closes a connection that is paused with unread data after the FIN', async () => {
    const [conn, socket] = await dialed()

    conn.pause()
    socket.end(payload(MiB))
    socket.resume()

    const { error } = await closed(conn, 5_000)
    expect(error).to.have.property('name', 'TimeoutError')
  })

  it('fault 2: ends a close() to a peer that never reads', async () => {
    const [conn, socket] = await dialed()

    sendAll(conn, payload(32 * MiB))
    await within(5_000, 'close()', conn.close().catch(() => {}))

    expect(conn.status).to.be.oneOf(['aborted', 'closed'])
    await expectCut(socket, 32 * MiB)
  })

  it('fault 2: ends a close() to a peer that has sent its FIN and never reads', async () => {
    const [conn, socket] = await dialed()

    sendAll(conn, payload(32 * MiB))
    socket.end()
    await within(5_000, 'close()', conn.close().catch(() => {}))

    expect(conn.status).to.be.oneOf(['aborted', 'closed'])
    await expectCut(socket, 32 * MiB)
  })
})
