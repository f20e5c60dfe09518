import { expect } from 'aegir/chai'
import { MiB, payload, sendAll } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawClient, rawPeer, readAll } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { closed, within } from '../fixtures/waiting.ts'
import type { RawTransport } from '../fixtures/raw.ts'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Socket } from 'node:net'

interface Cut {
  conn: MultiaddrConnection
  peer: Socket
  stop(): Promise<void>
}

describe('a connection that is still sending when its owner stops', () => {
  const defer = cleanUpAfterEach()

  async function dialed ({ dial, transport }: RawTransport): Promise<Cut> {
    const { addr, next } = await rawPeer(defer, { pauseOnConnect: true })
    const conn = await dial(addr)

    return { conn, peer: await next(), stop: async () => { await transport.stop?.() } }
  }

  async function accepted ({ listen }: RawTransport): Promise<Cut> {
    const { listener, port, next } = await listen()
    const peer = (await rawClient(defer, port)).pause()

    return { conn: await next(), peer, stop: async () => listener.close() }
  }

  for (const [name, connect] of Object.entries({ dialed, accepted })) {
    for (const isClosing of [false, true]) {
      it(`resets the peer, so that it does not mistake a part for the whole (${name}${isClosing ? ', and closing' : ''})`, async () => {
        const { conn, peer, stop } = await connect(rawTransport(defer, { closeTimeout: 0 }))
        const event = closed(conn, 5_000)

        sendAll(conn, payload(32 * MiB))

        if (isClosing) {
          conn.close().catch(() => {})
        }

        await within(5_000, 'stopping', stop())

        expect((await event).error).to.have.property('name', 'ConnectionClosedError')
        expect(await readAll(peer)).to.have.property('error', 'ECONNRESET')
      })
    }
  }
})
