import { expect } from 'aegir/chai'
import { KiB, collect, payload } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawClient, rawPeer } from '../fixtures/peers.ts'
import { connectionOver } from '../fixtures/raw.ts'
import { closed } from '../fixtures/waiting.ts'

/**
 * libuv before 1.52 (that of Node 22) takes a reset for an end where it reads the last data with it
 */
describe('a reset that arrives together with data', () => {
  const defer = cleanUpAfterEach()

  for (const [name, sends] of Object.entries({ 'nothing to send': 0, 'something to send': 256 })) {
    it(`is no clean end for a connection that has ${name}`, async () => {
      const { addr, port, next } = await rawPeer(defer, { pauseOnConnect: true })
      const socket = await rawClient(defer, port)
      const peer = await next()
      const conn = connectionOver(socket, addr)
      const received = collect(conn)
      const event = closed(conn)
      let ends = 0

      conn.addEventListener('remoteCloseWrite', () => { ends++ })

      for (let i = 0; i < sends; i++) {
        conn.send(payload(64 * KiB))
      }

      // both in one turn, and so both are there when the connection reads
      peer.write(payload(KiB))
      peer.resetAndDestroy()

      const { error } = await event

      expect(error).to.have.property('name', 'StreamResetError')
      expect(conn.status).to.equal('reset')
      expect(received.bytes).to.be.oneOf([0, KiB])
      expect(ends).to.equal(0)
    })
  }
})
