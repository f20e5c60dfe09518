import { join } from 'node:path'
import { StreamResetError } from '@libp2p/interface'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { KiB, MiB, payload, sendAll, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach, temporaryDirectory } from '../fixtures/cleanup.ts'
import { hasUnixSockets } from '../fixtures/machine.ts'
import { dialedPeer, readAll } from '../fixtures/peers.ts'
import { rawPair } from '../fixtures/raw.ts'
import { itIf } from '../fixtures/skip.ts'
import { closed, openSockets, until, within } from '../fixtures/waiting.ts'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Socket } from 'node:net'

describe('aborting', () => {
  const defer = cleanUpAfterEach()

  let conn: MultiaddrConnection
  let socket: Socket
  let before: number

  beforeEach(async () => {
    ({ conn, socket } = await dialedPeer(defer, {}, { pauseOnConnect: true }))
    before = openSockets()
  })

  it('abort() resets the peer', async () => {
    const error = new Error('Urk!')
    const event = closed(conn)

    conn.abort(error)
    expect(conn.status).to.equal('aborted')

    const evt = await event
    expect(evt.error).to.equal(error)
    expect(evt.local).to.equal(true)
    expect((await readAll(socket)).error).to.equal('ECONNRESET')
  })

  it('abort() of a connection that is closing wins at once', async () => {
    sendAll(conn, payload(32 * MiB))

    const error = new Error('Urk!')
    const closing = conn.close()
    const event = closed(conn)
    conn.abort(error)

    expect((await within(1_000, 'the close event', event)).error).to.equal(error)
    await within(1_000, 'close()', closing.catch(() => {}))
    expect(conn.status).to.equal('aborted')
    expect((await readAll(socket)).bytes).to.be.lessThan(32 * MiB)
  })

  it('abort() after the FIN was sent lets go of the socket', async () => {
    const closing = conn.close()

    await pEvent(socket.resume(), 'end')
    conn.abort(new Error('Urk!'))
    await within(1_000, 'close()', closing.catch(() => {}))

    before = openSockets()
    socket.destroy()
    await until(() => openSockets() < before, 'the socket is gone')
  })

  it('abort() after the FIN of the peer wins at once', async () => {
    sendAll(conn, payload(32 * MiB))
    socket.end()
    await pEvent(conn, 'remoteCloseWrite', { timeout: 5_000 })

    const event = closed(conn)
    conn.abort(new Error('Urk!'))

    expect((await within(1_000, 'the close event', event)).error).to.have.property('message', 'Urk!')
  })

  const sendsBeforeReset = async (bytes: number): Promise<void> => {
    const data = payload(bytes)
    sendAll(conn, data)
    conn.abort(new Error('Urk!'))

    expect(await readAll(socket)).to.deep.equal({ ...tally(data), error: 'ECONNRESET' })
  }

  for (const bytes of [100, 32 * KiB, 64 * KiB]) {
    it(`abort() sends ${bytes} bytes of the same tick before the reset`, async () => sendsBeforeReset(bytes))
  }

  it('abort() waits for no peer that reads nothing', async () => {
    sendAll(conn, payload(32 * MiB))
    conn.send(payload(100))
    conn.abort(new Error('Urk!'))
    await until(() => openSockets() < before, 'the socket is closed')

    expect((await readAll(socket)).bytes).to.be.lessThan(32 * MiB)
  })

  it('a second abort() changes nothing: the first error is reported', async () => {
    const events: unknown[] = []
    conn.addEventListener('close', (evt) => { events.push(evt.error) })

    const error = new Error('Urk!')
    conn.abort(error)
    conn.abort(new Error('Again!'))
    await readAll(socket)

    expect(events).to.deep.equal([error])
  })

  it('a reset by the peer is reported as a reset', async () => {
    const event = closed(conn)
    socket.resetAndDestroy()
    const evt = await event

    expect(conn.status).to.equal('reset')
    expect(evt.local).to.equal(false)
    expect(evt.error).to.be.an.instanceOf(StreamResetError)
  })

  it('a reset by the peer while we close ends the close', async () => {
    sendAll(conn, payload(32 * MiB))

    const closing = conn.close()
    socket.resetAndDestroy()

    await within(5_000, 'close()', closing.catch(() => {}))
    expect(conn.status).to.be.oneOf(['reset', 'closed', 'aborted'])
  })

  it('send() after an abort throws', () => {
    conn.abort(new Error('Urk!'))

    expect(() => conn.send(Uint8Array.of(1))).to.throw()
      .with.property('name', 'StreamStateError')
  })

  itIf(hasUnixSockets, 'unix sockets')('abort() over a unix socket closes it', async () => {
    const directory = await temporaryDirectory(defer)
    const { dialer, acceptor } = await rawPair(defer, {}, `/unix/${encodeURIComponent(join(directory, 'a.sock'))}`)
    const event = closed(acceptor)

    dialer.abort(new Error('Urk!'))
    expect(dialer.status).to.equal('aborted')
    await within(1_000, 'noticing', event)
  })

  it('no socket is left after an abort', async () => {
    conn.abort(new Error('Urk!'))
    await readAll(socket)
    await until(() => openSockets() <= before - 2, 'both sockets are gone')
  })
})
