import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { testsAtOnce } from '../fixtures/all-at-once.ts'
import { collect, MiB, payload, sendAll, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { dialedPeer, rawClient, readAll, readSlowly } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { closed, until, within } from '../fixtures/waiting.ts'
import type { MessageStream, MultiaddrConnection } from '@libp2p/interface'
import type { Socket } from 'node:net'

async function remoteFin (conn: MessageStream): Promise<void> {
  await pEvent(conn, 'remoteCloseWrite', { timeout: 5_000 })
}

describe('fault 1: a peer that sends its FIN loses nothing', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()
  const itAtOnce = testsAtOnce()

  /** 8 MiB, most of which cannot be sent before the peer reads, and its FIN */
  async function closedWhileSending (): Promise<{ conn: MultiaddrConnection, socket: Socket, data: Uint8Array }> {
    const ends = await dialedPeer(defer, {}, { pauseOnConnect: true })
    const data = payload(8 * MiB)

    sendAll(ends.conn, data)
    ends.socket.end()
    await remoteFin(ends.conn)

    return { ...ends, data }
  }

  it('8 MiB accepted before the FIN arrive', async () => {
    const { socket, data } = await closedWhileSending()

    expect(await readAll(socket)).to.deep.equal(tally(data))
  })

  itAtOnce('8 MiB accepted before the FIN arrive at a slow reader', async defer => {
    const { conn, socket } = await dialedPeer(defer, {}, { pauseOnConnect: true })
    const data = payload(8 * MiB)

    sendAll(conn, data)
    socket.end()

    expect(await readSlowly(socket, {})).to.deep.equal(tally(data))
  })

  it('8 MiB accepted while the FIN is announced arrive', async () => {
    const { conn, socket } = await dialedPeer(defer)
    const data = payload(8 * MiB)
    let error: unknown

    conn.addEventListener('remoteCloseWrite', () => {
      try {
        sendAll(conn, data)
      } catch (err) {
        error = err
      }
    })
    socket.end()

    const received = await readAll(socket)
    expect(error).to.equal(undefined)
    expect(received).to.deep.equal(tally(data))
  })

  for (let awaits = 1; awaits <= 5; awaits++) {
    it(`8 MiB sent ${awaits} await(s) after the FIN was announced arrive, unless they are refused`, async () => {
      const { conn, socket } = await dialedPeer(defer)
      const data = payload(8 * MiB)
      const sent = Promise.withResolvers<Uint8Array>()

      conn.addEventListener('remoteCloseWrite', async () => {
        for (let i = 0; i < awaits; i++) {
          await Promise.resolve()
        }

        try {
          conn.send(data)
          sent.resolve(data)
        } catch {
          sent.resolve(new Uint8Array())
        }
      })
      socket.end()

      const received = await readAll(socket)
      const accepted = await sent.promise

      expect(received).to.deep.equal(tally(accepted))

      if (awaits === 1) {
        expect(accepted, 'the first are not').to.equal(data)
      }
    })
  }

  it('an encrypter that aborts because its send came too late loses nothing that it sent before', async () => {
    const { conn, socket, data } = await closedWhileSending()

    const reading = readAll(socket)
    const closing = closed(conn)

    // as the base class of an encrypter does, and TLS more than once
    while (conn.status === 'closing') {
      await nextTurn()

      try {
        conn.send(new Uint8Array())
      } catch (err: any) {
        conn.abort(err)
        conn.abort(err)
        process.nextTick(() => { conn.abort(err) })
        await Promise.resolve()
      }
    }

    expect((await closing).error).to.equal(undefined)
    expect(conn.status).to.equal('closed')
    expect(await reading).to.deep.equal(tally(data))
  })

  it('can still be aborted with that error, later', async () => {
    const { conn, socket } = await dialedPeer(defer, { closeTimeout: 10_000 }, { pauseOnConnect: true })

    sendAll(conn, payload(8 * MiB))
    void conn.close().catch(() => {})
    await nextTurn()
    socket.resume()

    // the peer stays open, and close() waits for its FIN
    let error: any

    while (error == null) {
      await nextTurn()

      try {
        conn.send(Uint8Array.of(1))
      } catch (err) {
        error = err
      }
    }

    conn.abort(error)
    expect(conn.status).to.equal('closing')
    await nextTurn()
    await nextTurn()
    conn.abort(error)
    expect(conn.status).to.equal('aborted')
  })

  it('8 MiB accepted in part before and in part after the FIN arrive', async () => {
    const { conn, socket } = await dialedPeer(defer, {}, { pauseOnConnect: true })
    const data = payload(8 * MiB)

    sendAll(conn, data.subarray(0, 5 * MiB))
    socket.end()
    await remoteFin(conn)
    sendAll(conn, data.subarray(5 * MiB))

    expect(await readAll(socket)).to.deep.equal(tally(data))
  })

  itAtOnce('8 MiB from the listener arrive at a slow reader', async defer => {
    const { listen } = rawTransport(defer)
    const { port, next } = await listen()
    const socket = await rawClient(defer, port)
    const conn = await next()
    const data = payload(8 * MiB)

    socket.pause()
    sendAll(conn, data)
    socket.end()

    expect(await readSlowly(socket, {})).to.deep.equal(tally(data))
  })

  it('close() after the FIN waits for what was accepted', async () => {
    const { conn, socket, data } = await closedWhileSending()

    const received = readAll(socket)
    await within(5_000, 'close()', conn.close())

    expect(await received).to.deep.equal(tally(data))
  })

  it('the close event says that the peer closed', async () => {
    const { conn, socket } = await dialedPeer(defer)

    conn.send(payload(100))
    socket.resume().end()

    const evt = await closed(conn)

    expect(evt.local).to.not.equal(true)
    expect(evt.error).to.equal(undefined)
    expect(conn.status).to.equal('closed')
  })

  it('is announced before the connection closes', async () => {
    const { conn, socket } = await dialedPeer(defer, {}, { pauseOnConnect: true })
    const events: string[] = []

    conn.addEventListener('remoteCloseWrite', () => { events.push('remoteCloseWrite') })
    conn.addEventListener('close', () => { events.push('close') })

    sendAll(conn, payload(8 * MiB))
    socket.end()
    await remoteFin(conn)
    expect(conn.status).to.equal('closing')

    await readAll(socket)
    await until(() => events.length === 2, 'the connection has closed')
    expect(events).to.deep.equal(['remoteCloseWrite', 'close'])
    expect(conn.status).to.equal('closed')
  })

  it('what arrived before the FIN can be read by a paused connection', async () => {
    const { conn, socket } = await dialedPeer(defer)
    const received = collect(conn)
    const data = payload(MiB)

    conn.pause()
    socket.resume().end(data)
    await pEvent(socket, 'finish')
    conn.resume()
    await closed(conn)

    expect(received.result()).to.deep.equal(tally(data))
  })
})
