import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { until } from '../fixtures/waiting.ts'
import { dialer, portOf } from './fixtures/dialer.ts'
import { NOISE, counting, joined } from './fixtures/proposals.ts'
import { relayTo, remote } from './fixtures/remote.ts'
import { ECHO, echoNode, firstByte } from './fixtures/stacks.ts'
import type { Reshape } from './fixtures/remote.ts'
import type { MultiaddrConnection } from '@libp2p/interface'

describe('the reply to an optimistic dial', () => {
  const defer = cleanUpAfterEach()

  it('may come in one segment with the handshake and all that follows', async () => {
    const listener = await echoNode(defer)
    const { dial, counted } = await dialer(defer)
    const held: Buffer[] = []
    const glue: Reshape = async (bytes, write) => {
      held.push(bytes)

      // the reply, the length of the handshake message and the message
      if (Buffer.concat(held).byteLength > NOISE.byteLength + 2) {
        await write(Buffer.concat(held.splice(0)))
      }
    }
    const { addr } = await remote(defer, [relayTo(portOf(listener), glue)])
    const connection = await dial(addr)

    expect(await firstByte(await connection.newStream(ECHO))).to.equal(42)
    expect(counted()).to.deep.equal({ accepted: 1 })
  })

  describe('as the reader of the connection sees it', () => {
    interface Reader {
      connection: MultiaddrConnection
      messages: Uint8Array[]
      send(bytes: Uint8Array): Promise<void>
    }

    async function reader (): Promise<Reader> {
      const { addr, visits } = await remote(defer, [() => {}])
      const connection = await rawTransport(defer).dial(addr)
      const messages: Uint8Array[] = []
      connection.addEventListener('message', event => { messages.push(event.data.subarray()) })
      connection.send(NOISE)
      await until(() => visits.length === 1, 'the remote has accepted')
      await visits[0].got(NOISE.byteLength)

      return {
        connection,
        messages,
        send: async bytes => new Promise(resolve => { visits[0].socket.write(bytes, () => { resolve() }) })
      }
    }

    it('is there at once, before the peer has said anything', async () => {
      const { messages } = await reader()

      expect(messages).to.have.lengthOf(1)
      expect(messages[0]).to.equalBytes(NOISE)
    })

    it('waits while the connection is paused, and keeps its place', async () => {
      const { addr, visits } = await remote(defer, [() => {}])
      const connection = await rawTransport(defer).dial(addr)
      const messages: Uint8Array[] = []
      connection.addEventListener('message', event => { messages.push(event.data.subarray()) })

      // the local reply is queued by now, the real one is under way
      connection.send(NOISE)
      connection.pause()
      await until(() => visits.length === 1, 'the remote has accepted')
      visits[0].socket.write(joined(NOISE, counting(8)))
      await delay(20)
      expect(messages).to.be.empty()

      connection.resume()
      await until(() => joined(...messages).byteLength >= NOISE.byteLength + 8, 'all has come')
      expect(joined(...messages)).to.equalBytes(joined(NOISE, counting(8)))
    })

    it('waits for a reader that comes late', async () => {
      const { addr, visits } = await remote(defer, [() => {}])
      const connection = await rawTransport(defer).dial(addr)
      connection.send(NOISE)
      await until(() => visits.length === 1, 'the remote has accepted')
      visits[0].socket.write(joined(NOISE, counting(8)))
      await delay(20)

      const messages: Uint8Array[] = []
      connection.addEventListener('message', event => { messages.push(event.data.subarray()) })
      await until(() => joined(...messages).byteLength >= NOISE.byteLength + 8, 'all has come')
      expect(joined(...messages)).to.equalBytes(joined(NOISE, counting(8)))
    })
  })
})
