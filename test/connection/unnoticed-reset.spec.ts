import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { KiB, payload, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawClient, rawPeer } from '../fixtures/peers.ts'
import { connectionOver } from '../fixtures/raw.ts'
import { closed, until, within } from '../fixtures/waiting.ts'
import type { SocketConnection } from '../../src/connection/socket-connection.ts'
import type { ConnectionSettings } from '../../src/settings.ts'
import type { Socket } from 'node:net'

/**
 * A socket that does not read is not told of a RST, which loses what was sent
 */
describe('closing a connection that does not read', () => {
  const defer = cleanUpAfterEach()

  async function setUp (init?: Partial<ConnectionSettings>): Promise<{ socket: Socket, peer: Socket, conn: SocketConnection }> {
    const { addr, port, next } = await rawPeer(defer, { pauseOnConnect: true })
    const socket = await rawClient(defer, port)

    return { socket, peer: await next(), conn: connectionOver(socket, addr, init) }
  }

  /** The peer throws away what was sent, and nobody has noticed when the connection is closed */
  async function expectReset (conn: SocketConnection, peer: Socket): Promise<void> {
    const event = closed(conn)

    conn.send(payload(KiB))
    await turns(2)
    peer.resetAndDestroy()
    await pEvent(peer, 'close')
    await turns(2)

    expect(conn.status).to.equal('open')
    await expect(within(5_000, 'close()', conn.close())).to.eventually.be.rejected.with.property('name', 'StreamResetError')
    expect((await event).error).to.have.property('name', 'StreamResetError')
    expect(conn.status).to.equal('reset')
  }

  it('rejects, if the peer has reset it after its FIN', async () => {
    const { peer, conn } = await setUp({ allowHalfOpen: true })
    const fin = pEvent(conn, 'remoteCloseWrite')

    conn.addEventListener('message', () => {})
    peer.end()
    await fin
    await expectReset(conn, peer)
  })

  it('rejects, if the peer has reset it while nobody listened', async () => {
    const { socket, peer, conn } = await setUp()

    peer.write(payload(256 * KiB))
    await until(() => socket.isPaused(), 'it stops reading')
    await expectReset(conn, peer)
  })

  it('rejects, if the peer has reset it while it was paused', async () => {
    const { socket, peer, conn } = await setUp()

    conn.addEventListener('message', () => {})
    conn.pause()
    peer.write(payload(256 * KiB))
    await until(() => socket.readableLength >= socket.readableHighWaterMark, 'it stops reading')
    await expectReset(conn, peer)
  })

  it('is no write after the end, if the owner of the socket has ended it', async () => {
    const { socket, peer, conn } = await setUp({ allowHalfOpen: true })
    const fin = pEvent(conn, 'remoteCloseWrite')

    conn.addEventListener('message', () => {})
    peer.end()
    await fin
    socket.end()

    await within(5_000, 'close()', conn.close())
    expect(conn.status).to.equal('closed')
  })

  it('resolves, if the peer has everything', async () => {
    const { peer, conn } = await setUp({ allowHalfOpen: true })
    const fin = pEvent(conn, 'remoteCloseWrite')
    let bytes = 0

    conn.addEventListener('message', () => {})
    peer.end()
    await fin
    conn.send(payload(KiB))

    peer.on('data', data => { bytes += data.byteLength }).resume()
    await Promise.all([pEvent(peer, 'end'), within(5_000, 'close()', conn.close())])

    expect(bytes).to.equal(KiB)
    expect(conn.status).to.equal('closed')
  })
})
