import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { KiB, payload, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawClient, rawPeer, readAll } from '../fixtures/peers.ts'
import { connectionOver } from '../fixtures/raw.ts'
import { closed, within } from '../fixtures/waiting.ts'
import type { SocketConnection } from '../../src/connection/socket-connection.ts'
import type { Socket } from 'node:net'

/**
 * The kernel is full, but Node has so little to give to it that `send` says true and
 * a close ends the socket at once
 */
describe('closing a connection with a little left to send', () => {
  const defer = cleanUpAfterEach()

  let socket: Socket
  let peer: Socket
  let conn: SocketConnection
  let sentBytes: number

  beforeEach(async () => {
    const { addr, port, next } = await rawPeer(defer, { pauseOnConnect: true })
    socket = await rawClient(defer, port)
    peer = await next()
    conn = connectionOver(socket, addr)
    sentBytes = 0

    while (socket.writableLength === 0) {
      conn.send(payload(KiB))
      sentBytes += KiB
      // until it is written; what the kernel takes afterwards takes some turns
      await (socket.writableLength === 0 ? Promise.resolve() : turns(5))
    }

    expect(conn.writableNeedsDrain).to.equal(false)
  })

  it('rejects, if the socket is destroyed', async () => {
    const closing = conn.close()
    socket.destroy()

    await expect(within(5_000, 'close()', closing)).to.eventually.be.rejected.with.property('name', 'ConnectionClosedError')
    expect((await readAll(peer)).bytes).to.be.lessThan(sentBytes)
  })

  it('rejects, if the peer sends FIN and then RST', async () => {
    peer.end()
    await pEvent(conn, 'remoteCloseWrite')
    await turns(2)
    expect(socket.writableEnded).to.equal(true)
    expect(socket.writableLength).to.be.above(0)

    const closing = conn.close()
    peer.resetAndDestroy()

    await expect(within(5_000, 'close()', closing)).to.eventually.be.rejected.with.property('name', 'StreamResetError')
    expect(conn.status).to.equal('reset')
  })

  it('rejects, if it is aborted for no reason', async () => {
    const closing = conn.close()
    conn.abort(undefined as any)

    await expect(closing).to.eventually.be.rejected.with.property('name', 'ConnectionClosedError')
  })

  it('resets the peer when it is aborted, instead of a clean end of less than was sent', async () => {
    const event = closed(conn)
    const closing = conn.close()
    const error = new Error('Urk!')
    conn.abort(error)

    await expect(closing).to.eventually.be.rejectedWith(error.message)
    expect((await event).error).to.equal(error)
    expect(await readAll(peer)).to.have.property('error', 'ECONNRESET')
  })
})
