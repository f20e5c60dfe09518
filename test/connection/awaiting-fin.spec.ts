import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { KiB, payload } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawClient, rawPeer } from '../fixtures/peers.ts'
import { connectionOver } from '../fixtures/raw.ts'
import { closed, within } from '../fixtures/waiting.ts'
import type { Socket } from 'node:net'

/**
 * The peer has everything that was sent, so nothing can be lost any more
 */
describe('a connection that waits for the peer\'s FIN', () => {
  const defer = cleanUpAfterEach()

  for (const [title, end] of Object.entries({
    'the peer sends FIN': (_, peer) => { peer.end() },
    // as go-libp2p does with every connection that it closes
    'the peer resets it': (_, peer) => { peer.resetAndDestroy() },
    'the host of the peer vanishes': socket => { socket.destroy(Object.assign(new Error('read ETIMEDOUT'), { code: 'ETIMEDOUT' })) },
    'somebody destroys the socket': socket => { socket.destroy() }
  } satisfies Record<string, (socket: Socket, peer: Socket) => void>)) {
    it(`closes without an error when ${title}`, async () => {
      const { addr, port, next } = await rawPeer(defer)
      const socket = await rawClient(defer, port)
      const peer = await next()
      const conn = connectionOver(socket, addr, { closeTimeout: 60_000 })
      const event = closed(conn)
      const finish = pEvent(socket, 'finish')
      const fin = pEvent(peer.resume(), 'end')

      conn.send(payload(KiB))
      const closing = conn.close()
      await Promise.all([finish, fin])
      expect(conn.status).to.equal('closing')
      end(socket, peer)

      await within(5_000, 'close()', closing)
      expect(await event).to.include({ error: undefined, local: true })
      expect(conn.status).to.equal('closed')
    })
  }
})
