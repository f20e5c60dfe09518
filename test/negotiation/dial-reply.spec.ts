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

/** So that two writes arrive as two segments, in ms */
const GAP = 2

describe('the reply to an optimistic dial', () => {
  const defer = cleanUpAfterEach()

  it('may be split at each of its places, and the connection works', async () => {
    const listener = await echoNode(defer)
    const { dial, counted } = await dialer(defer)

    for (let at = 1; at <= NOISE.byteLength; at++) {
      let relayed = 0
      const split: Reshape = async (bytes, write) => {
        const cut = Math.max(0, Math.min(bytes.byteLength, at - relayed))
        relayed += bytes.byteLength

        if (cut > 0 && cut < bytes.byteLength) {
          await write(bytes.subarray(0, cut))
          await delay(GAP)
        }

        await write(bytes.subarray(cut))
      }
      const { addr, visits } = await remote(defer, [relayTo(portOf(listener), split)])
      const connection = await dial(addr)

      expect(await firstByte(await connection.newStream(ECHO)), `split at ${at}`).to.equal(42)
      expect(visits).to.have.lengthOf(1)
      connection.abort(new Error('done'))
    }

    expect(counted()).to.deep.equal({ accepted: NOISE.byteLength })
  })

  it('may come one byte at a time, and so may the handshake', async () => {
    const listener = await echoNode(defer)
    const { dial, counted } = await dialer(defer)
    const bytewise: Reshape = async (bytes, write) => {
      for (const byte of bytes) {
        await write(Uint8Array.of(byte))
        await delay(0)
      }
    }
    const { addr } = await remote(defer, [relayTo(portOf(listener), bytewise)])
    const connection = await dial(addr)

    expect(await firstByte(await connection.newStream(ECHO))).to.equal(42)
    expect(counted()).to.deep.equal({ accepted: 1 })
  })

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

    it('comes once, and what is glued behind it comes in order', async () => {
      for (let length = 0; length <= 64; length++) {
        const { connection, messages, send } = await reader()
        const tail = counting(length)

        await send(joined(NOISE, tail))
        await send(NOISE)
        await until(() => joined(...messages).byteLength === 2 * NOISE.byteLength + length, 'all has come')

        expect(joined(...messages), `${length} bytes`).to.equalBytes(joined(NOISE, tail, NOISE))
        expect(messages.every(message => message.byteLength > 0), 'no message is empty').to.be.true()
        connection.abort(new Error('done'))
      }
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
