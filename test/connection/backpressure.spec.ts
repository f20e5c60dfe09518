import { expect } from 'aegir/chai'
import { collect, KiB, MiB, payload, sendPolitely, tally, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { dialedPeer, readAll } from '../fixtures/peers.ts'
import { closed, until, untilStill, within } from '../fixtures/waiting.ts'
import type { MultiaddrConnection } from '@libp2p/interface'
import type { Socket } from 'node:net'

describe('backpressure', function () {
  this.timeout(20_000)

  const defer = cleanUpAfterEach()

  let conn: MultiaddrConnection
  let socket: Socket

  beforeEach(async () => {
    ({ conn, socket } = await dialedPeer(defer, {}, { pauseOnConnect: true }))
  })

  function needsDrain (): number {
    return Number(conn.writableNeedsDrain)
  }

  /**
   * Send until the connection asks us to wait, and the peer's buffers are full
   */
  async function fill (): Promise<number> {
    let sent = 0

    while (sent < 64 * MiB) {
      sent += 64 * KiB

      if (!conn.send(new Uint8Array(64 * KiB))) {
        // what the kernel takes makes it writable again
        await untilStill(needsDrain)

        if (conn.writableNeedsDrain) {
          return sent
        }
      }
    }

    throw new Error('The connection never asked us to wait')
  }

  async function isPending (promise: Promise<unknown>): Promise<boolean> {
    let settled = false
    promise.then(() => { settled = true }, () => { settled = true })
    await turns(20)

    return !settled
  }

  it('send() asks us to wait for a peer that does not read, until it reads', async () => {
    await fill()
    expect(conn.writableNeedsDrain).to.equal(true)

    const drained = conn.onDrain()
    expect(await isPending(drained)).to.equal(true)

    socket.resume()
    await within(5_000, 'onDrain()', drained)
    expect(conn.writableNeedsDrain).to.equal(false)
  })

  it('fault 7: onDrain() waits every time', async () => {
    for (let i = 0; i < 5; i++) {
      await fill()

      const drained = conn.onDrain()
      expect(await isPending(drained)).to.equal(true, `use ${i + 1}`)

      socket.resume()
      await within(5_000, 'onDrain()', drained)
      socket.pause()
    }
  })

  it('fault 7: onDrain() serves everyone who waits', async () => {
    for (let i = 0; i < 3; i++) {
      await fill()

      const waiting = [conn.onDrain(), conn.onDrain(), conn.onDrain()]
      expect(await isPending(Promise.any(waiting))).to.equal(true)

      socket.resume()
      await within(5_000, 'onDrain()', Promise.all(waiting))
      socket.pause()
    }
  })

  it('onDrain() resolves at once when there is nothing to wait for', async () => {
    conn.send(Uint8Array.of(1))
    await within(1_000, 'onDrain()', conn.onDrain())
  })

  it('onDrain() rejects when its signal fires, and can be called again', async () => {
    await fill()
    await expect(conn.onDrain({ signal: AbortSignal.timeout(10) }))
      .to.eventually.be.rejected()

    const drained = conn.onDrain()
    socket.resume()
    await within(5_000, 'onDrain()', drained)
  })

  it('onDrain() rejects when the connection is aborted', async () => {
    await fill()

    const drained = conn.onDrain()
    conn.abort(new Error('Urk!'))
    await expect(within(1_000, 'onDrain()', drained)).to.eventually.be.rejectedWith('Urk!')
  })

  it('onDrain() of an aborted connection does not wait', async () => {
    await fill()
    conn.abort(new Error('Urk!'))

    await within(1_000, 'onDrain()', conn.onDrain().catch(() => {}))
  })

  it('everything arrives when we wait whenever we are asked to', async () => {
    const data = payload(32 * MiB)
    const received = readAll(socket)

    await sendPolitely(conn, data)
    await conn.close()

    expect(await received).to.deep.equal(tally(data))
  })

  it('everything arrives when we never wait', async () => {
    const data = payload(32 * MiB)

    for (let i = 0; i < data.byteLength; i += MiB) {
      conn.send(data.subarray(i, i + MiB))
    }

    const received = readAll(socket)
    await conn.close()

    expect(await received).to.deep.equal(tally(data))
  })

  it('a paused connection makes the peer wait', async () => {
    const data = payload(64 * MiB)
    const received = collect(conn)

    conn.pause()
    socket.write(data)

    // far more than a connection may buffer, had it gone on reading
    expect(await untilStill(() => socket.writableLength)).to.be.greaterThan(8 * MiB)
    expect(conn.status).to.equal('open')
    expect(received.bytes).to.equal(0)

    conn.resume()
    await until(() => received.bytes === data.byteLength, 'all has arrived')
    expect(received.result()).to.deep.equal(tally(data))
  })

  it('pausing and resuming from within a message handler loses nothing', async () => {
    const data = payload(8 * MiB)
    const received = collect(conn)

    conn.addEventListener('message', () => {
      conn.pause()
      setImmediate(() => {
        if (conn.status === 'open' || conn.readBufferLength > 0) {
          conn.resume()
        }
      })
    })
    socket.resume().end(data)

    await closed(conn)
    await until(() => received.bytes === data.byteLength, 'all has arrived')
    expect(received.result()).to.deep.equal(tally(data))
  })
})
