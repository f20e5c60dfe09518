import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { testsAtOnce } from '../fixtures/all-at-once.ts'
import { MiB } from '../fixtures/bytes.ts'
import { runChild } from '../fixtures/child.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { dialedPeer, isGone, rawPeer } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { openSockets, until, within } from '../fixtures/waiting.ts'

describe('a closed connection whose peer stays open', function () {
  this.timeout(20_000)

  const defer = cleanUpAfterEach()
  const itAtOnce = testsAtOnce()

  it('goes on reading, so that the peer is not reset', async () => {
    const { conn, socket } = await dialedPeer(defer)
    const heard: unknown[] = []

    socket.resume()
    conn.addEventListener('message', (evt) => { heard.push(evt) })
    await conn.close()

    await within(5_000, 'reading on', new Promise<void>((resolve, reject) => {
      socket.write(new Uint8Array(64 * MiB), err => {
        err == null ? resolve() : reject(err)
      })
    }))

    expect(socket.destroyed).to.equal(false)
    expect(heard).to.be.empty('what arrives after close() is discarded')

    socket.end()
    await within(1_000, 'closing', pEvent(socket, 'close'))
  })

  itAtOnce('is destroyed after 5 s of silence', async defer => {
    const { conn, socket } = await dialedPeer(defer)

    socket.resume()
    await conn.close()
    await delay(5_500)
    await isGone(socket)
  })

  it('is destroyed when the transport stops', async () => {
    const { conn, socket, transport } = await dialedPeer(defer)

    socket.resume()
    await conn.close()
    await transport.stop?.()
    await isGone(socket)
  })

  for (const isAborted of [false, true]) {
    itAtOnce(`does not keep the process alive${isAborted ? ', even if the close was aborted' : ''}`, async defer => {
      const { addr, next } = await rawPeer(defer)
      const child = runChild(defer, 'close-and-leave.ts', [addr, isAborted])
      const socket = await next()

      socket.resume()
      expect(await child.says()).to.equal('closed')
      expect(await within(3_000, 'leaving', child.exited)).to.equal(0)
    })
  }

  it('leaves no socket when the peer closes', async () => {
    const { addr, next } = await rawPeer(defer)
    const before = openSockets()
    const conn = await rawTransport(defer).dial(addr)
    const socket = await next()

    socket.resume()
    await conn.close()
    socket.end()
    await pEvent(socket, 'close')
    await until(() => openSockets() <= before, 'no socket is left')
  })
})
