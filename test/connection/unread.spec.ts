import { expect } from 'aegir/chai'
import { KiB, MiB, collect, payload, sendPolitely, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawClient } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { closed, until, untilStill } from '../fixtures/waiting.ts'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Socket } from 'node:net'

const MAX_HELD = 256 * KiB

describe('a connection that nobody listens to', function () {
  this.timeout(20_000)

  const defer = cleanUpAfterEach()

  async function accepted (): Promise<[MultiaddrConnection, Socket]> {
    const { port, next } = await rawTransport(defer).listen()
    const socket = await rawClient(defer, port)

    return [await next(), socket]
  }

  /** What the connection has taken from the kernel and not handed on */
  async function held (conn: any): Promise<number> {
    return untilStill(() => conn.readBufferLength)
  }

  it('makes the peer wait, and loses nothing', async () => {
    const [conn, socket] = await accepted()
    const data = payload(32 * MiB)

    socket.end(data)
    expect(await held(conn)).to.be.greaterThan(0).and.at.most(MAX_HELD)
    expect(conn.status).to.equal('open')

    const received = collect(conn)
    await closed(conn)
    expect(received.result()).to.deep.equal(tally(data))
  })

  it('makes the peer wait again when the listener has left', async () => {
    const [conn, socket] = await accepted()
    const data = payload(32 * MiB)
    const parts: Uint8Array[] = []

    socket.end(data)

    for (let i = 0; i < 5; i++) {
      await new Promise<void>(resolve => {
        conn.addEventListener('message', evt => {
          parts.push(evt.data.subarray().slice())
          resolve()
        }, { once: true })
      })
      expect(await held(conn)).to.be.at.most(MAX_HELD)
    }

    conn.addEventListener('message', evt => { parts.push(evt.data.subarray().slice()) })
    await closed(conn)
    expect(tally(Buffer.concat(parts))).to.deep.equal(tally(data))
  })

  it('can be paused and resumed meanwhile', async () => {
    const [conn, socket] = await accepted()
    const data = payload(8 * MiB)

    socket.end(data)
    await held(conn)
    conn.pause()
    const received = collect(conn)
    await held(conn)
    expect(received.bytes).to.equal(0)

    conn.resume()
    await closed(conn)
    expect(received.result()).to.deep.equal(tally(data))
  })

  it('can be paused again by the listener that gets the kept data, each time', async () => {
    const [conn, socket] = await accepted()
    const data = payload(16 * MiB)
    let most = 0

    socket.end(data)
    await held(conn)
    conn.pause()
    const received = collect(conn)
    conn.addEventListener('message', () => {
      conn.pause()
      most = Math.max(most, conn.readBufferLength)
      setTimeout(() => {
        most = Math.max(most, conn.readBufferLength)

        if ((conn as any).readStatus === 'paused') {
          conn.resume()
        }
      }, 1)
    })
    conn.resume()
    await until(() => received.bytes === data.byteLength || conn.status === 'aborted', 'all was read')

    expect(received.result()).to.deep.equal(tally(data))
    expect(most).to.be.at.most(MAX_HELD)
  })

  it('can be resumed before anybody listens', async () => {
    const [conn, socket] = await accepted()
    const data = payload(8 * MiB)

    socket.end(data)
    conn.pause()
    await held(conn)
    conn.resume()
    expect(await held(conn)).to.be.at.most(MAX_HELD)

    const received = collect(conn)
    await closed(conn)
    expect(received.result()).to.deep.equal(tally(data))
  })

  it('can be closed', async () => {
    const [conn, socket] = await accepted()

    socket.write(payload(32 * MiB))
    socket.on('end', () => { socket.end() })
    socket.resume()
    await held(conn)
    await conn.close()
    await until(() => socket.closed, 'the peer has closed')

    expect(conn.status).to.equal('closed')
    expect(socket.errored).to.equal(null)
  })

  it('can send meanwhile', async () => {
    const [conn, socket] = await accepted()

    socket.write(payload(32 * MiB))
    await held(conn)
    socket.resume()
    await sendPolitely(conn, payload(8 * MiB))
    await until(() => socket.bytesRead === 8 * MiB, 'the peer has all')
  })
})
