import { once } from 'node:events'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { noise } from '@libp2p/noise'
import { plaintext } from '@libp2p/plaintext'
import { tls } from '@libp2p/tls'
import { expect } from 'aegir/chai'
import { KiB, payload, readToEnd, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { createNode } from '../fixtures/node.ts'
import { portOf } from '../fixtures/raw.ts'
import { openSockets, until, within } from '../fixtures/waiting.ts'
import { stack as stackOf } from '../lab/stacks.ts'
import { withoutEarlyMuxer } from '../negotiation/fixtures/early-muxer.ts'
import { METHODS, WAITS, slowGater } from './fixtures/gaters.ts'
import type { EncrypterFactory } from '../negotiation/fixtures/early-muxer.ts'
import type { Connection, MultiaddrConnection } from '@libp2p/interface'

const PROTOCOL = '/test/leave/1.0.0'
const CONNECTIONS = 20

const STACKS = {
  plain: () => ({}),
  decorated () {
    const { connectionEncrypters, streamMuxers } = stackOf('ours')

    return { connectionEncrypters, streamMuxers }
  }
}

/** How the peer leaves as soon as its own end is upgraded */
const ENDINGS: Record<string, (connection: Connection) => void> = {
  resets: connection => { connection.abort(new Error('This peer has changed its mind')) },
  closes: connection => { connection.close().catch(err => { connection.abort(err) }) }
}

describe('a listener whose connection gater reads a file', function () {
  this.timeout(20_000)

  const defer = cleanUpAfterEach()

  for (const [stack, options] of Object.entries(STACKS)) {
    for (const [ending, leave] of Object.entries(ENDINGS)) {
      // mocha fails a test in which an exception is uncaught
      it(`lives on when each peer ${ending} at once, ${stack}${ending === 'closes' ? ' (fault 11)' : ''}`, async () => {
        const listener = await createNode(defer, { ...options(), listen: true, connectionGater: slowGater(METHODS.listener, WAITS['a file']) })
        const dialer = await createNode(defer, options())

        for (let i = 0; i < CONNECTIONS; i++) {
          leave(await dialer.dial(listener.getMultiaddrs(), { force: true }))
        }

        await until(() => listener.getConnections().length === 0, 'no connection is left')
        await until(() => openSockets() === 0, 'no socket is left')
      })
    }
  }

  for (const stack of ['plain', 'decorated'] as const) {
    it(`lives on when a peer closes at once, and each answer takes longer than an upgrade goes on after FIN, ${stack}`, async () => {
      const listener = await createNode(defer, { ...STACKS[stack](), listen: true, connectionGater: slowGater(METHODS.listener, async () => delay(700)) })
      const dialer = await createNode(defer, STACKS[stack]())

      await Promise.all(Array.from({ length: 4 }, async () => {
        ENDINGS.closes(await dialer.dial(listener.getMultiaddrs(), { force: true }))
      }))
      await until(() => listener.getConnections().length === 0, 'no connection is left')
      await until(() => openSockets() === 0, 'no socket is left')
    })
  }

  for (const [when, bytes] of [['at once', ''], ['after its first message', '\x13/multistream/1.0.0\n']]) {
    it(`sends FIN, and no reset, to a peer that sends FIN ${when}`, async () => {
      const listener = await createNode(defer, { listen: true })
      const socket = net.connect(portOf(listener.getMultiaddrs()[0]), '127.0.0.1')

      socket.resume()
      socket.end(bytes)
      // rejects if there is a reset
      await once(socket, 'end')
    })
  }

  it('hands on what a peer sent before its FIN', async () => {
    const data = payload(100 * KiB)
    const received = Promise.withResolvers<unknown>()
    const listener = await createNode(defer, { ...STACKS.decorated(), listen: true, connectionGater: slowGater(METHODS.listener, WAITS['50 ms']) })
    const dialer = await createNode(defer, STACKS.decorated())

    await listener.handle(PROTOCOL, async stream => { received.resolve(await readToEnd(stream)) })

    const connection = await dialer.dial(listener.getMultiaddrs())
    const stream = await connection.newStream(PROTOCOL, { negotiateFully: false })

    stream.send(data)
    stream.close().catch(() => {})
    await connection.close().catch(err => { connection.abort(err) })

    expect(await within(5_000, 'the handler', received.promise)).to.deep.equal(tally(data))
  })
})

const ENCRYPTERS = { noise, tls, plaintext }

for (const [name, encrypter] of Object.entries(ENCRYPTERS)) {
  for (const allowHalfOpen of [false, true]) {
    describe(`a peer that sends FIN before it agrees on the muxer, after ${name}${allowHalfOpen ? ', with allowHalfOpen' : ''}`, () => {
      const defer = cleanUpAfterEach()
      const waiting = { connectionEncrypters: [withoutEarlyMuxer(encrypter())], tcp: { dialOpts: { allowHalfOpen }, listenOpts: { allowHalfOpen } } }

      it('ends a dial at once, and not at its timeout', async () => {
        const listener = await createNode(defer, { listen: true, connectionEncrypters: [leaving(encrypter(), 'secureInbound')] })
        const dialer = await createNode(defer, waiting)

        await expect(within(5_000, 'the dial', dialer.dial(listener.getMultiaddrs()))).to.eventually.be.rejected()
          .with.property('message').that.does.not.include('took longer')
        await until(() => openSockets() === 0, 'no socket is left')
      })

      it('leaves a listener no socket', async () => {
        const listener = await createNode(defer, { ...waiting, listen: true })
        const dialer = await createNode(defer, { connectionEncrypters: [leaving(encrypter(), 'secureOutbound')] })

        await expect(dialer.dial(listener.getMultiaddrs())).to.eventually.be.rejected()
        await within(5_000, 'the end', until(() => openSockets() === 0, 'no socket is left'))
      })
    })
  }
}

/** Closes the connection when its handshake is done */
function leaving (encrypter: EncrypterFactory, secure: 'secureInbound' | 'secureOutbound'): EncrypterFactory {
  return components => {
    const wrapped = withoutEarlyMuxer(encrypter)(components)

    return {
      protocol: wrapped.protocol,
      secureInbound: wrapped.secureInbound.bind(wrapped),
      secureOutbound: wrapped.secureOutbound.bind(wrapped),
      [secure]: async (connection: MultiaddrConnection, options: any) => {
        await wrapped[secure](connection, options)
        await connection.close()

        throw new Error('This peer has changed its mind')
      }
    }
  }
}
