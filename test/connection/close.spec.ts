import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { collect, KiB, MiB, payload, sendAll, tally, turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { dialedPeer, rawClient, rawPeer, readAll } from '../fixtures/peers.ts'
import { rawPair, rawTransport } from '../fixtures/raw.ts'
import { closed, timed, until, within } from '../fixtures/waiting.ts'

const CLOSE_TIMEOUT = 250

describe('closing a connection', () => {
  const defer = cleanUpAfterEach()

  it('fault 3: waits no longer than 250 ms for a peer that never closes', async () => {
    const { conn, socket } = await dialedPeer(defer)
    socket.resume()

    conn.send(payload(1_000))

    const { ms, lag } = await within(5_000, 'close()', timed(async () => conn.close()))

    expect(ms).to.be.greaterThan(CLOSE_TIMEOUT - 10)
    expect(ms).to.be.lessThan(CLOSE_TIMEOUT + 100 + lag)
    expect(conn.status).to.equal('closed')
  })

  it('fault 3: waits as long as closeTimeout says', async () => {
    const { conn, socket } = await dialedPeer(defer, { closeTimeout: 50 })
    socket.resume()

    const { ms, lag } = await within(5_000, 'close()', timed(async () => conn.close()))

    expect(ms).to.be.greaterThan(40)
    expect(ms).to.be.lessThan(50 + 100 + lag)
  })

  it('does not wait for the peer at all with a closeTimeout of 0', async () => {
    const { conn, socket } = await dialedPeer(defer, { closeTimeout: 0 })
    const order: string[] = []
    const received = readAll(socket)

    socket.on('end', () => { order.push('FIN arrived') })
    conn.send(payload(1_000))
    await within(5_000, 'close()', conn.close())
    order.push('closed')

    expect(conn.status).to.equal('closed')
    expect(await within(5_000, 'arriving', received)).to.include({ bytes: 1_000 }).and.not.have.property('error')
    expect(order).to.deep.equal(['closed', 'FIN arrived'])
  })

  it('fault 3: a second close() resolves when the first does', async () => {
    const { conn, socket } = await dialedPeer(defer)
    const order: string[] = []

    const ended = pEvent(socket.resume(), 'end').then(() => order.push('FIN arrived'))
    const first = conn.close().then(() => order.push('first'))
    await turns(2)
    const second = conn.close().then(() => order.push('second'))

    await within(5_000, 'close()', Promise.all([ended, first, second]))
    expect(order).to.deep.equal(['FIN arrived', 'first', 'second'])
  })

  it('fault 3: close() after the connection has closed resolves', async () => {
    const { dialer } = await rawPair(defer)

    await dialer.close()
    await within(1_000, 'close()', dialer.close())
    expect(dialer.status).to.equal('closed')
  })

  it('resolves as soon as the peer has closed too', async () => {
    const { addr, next } = await rawPeer(defer)
    const conn = await rawTransport(defer, { closeTimeout: 30_000 }).dial(addr)
    const received = next().then(readAll)
    const data = payload(3 * MiB)

    sendAll(conn, data)
    await within(10_000, 'close()', conn.close())

    expect(await received).to.deep.equal(tally(data))
  })

  it('reports a clean close at both sides', async () => {
    const { dialer, acceptor } = await rawPair(defer)
    const [local, remote] = await Promise.all([
      closed(dialer),
      closed(acceptor),
      dialer.close()
    ])

    expect(local.error).to.equal(undefined)
    expect(remote.error).to.equal(undefined)
    expect(dialer.status).to.equal('closed')
    expect(acceptor.status).to.equal('closed')
    expect(dialer.timeline.close).to.be.a('number')
  })

  it('waits until a peer that reads nothing yet reads what was sent', async () => {
    const { conn, socket } = await dialedPeer(defer, {}, { pauseOnConnect: true })
    const data = payload(16 * MiB)
    let isClosed = false

    sendAll(conn, data)
    const closing = conn.close().then(() => { isClosed = true })

    // longer than the close timeout, which starts when all is flushed
    await new Promise(resolve => setTimeout(resolve, CLOSE_TIMEOUT * 2))
    expect(isClosed).to.equal(false)

    const received = readAll(socket)
    await within(10_000, 'close()', closing)
    expect(await received).to.deep.equal(tally(data))
  })

  it('rejects when its signal aborts before all was flushed', async () => {
    const { conn } = await dialedPeer(defer, {}, { pauseOnConnect: true })

    sendAll(conn, payload(16 * MiB))

    await expect(within(5_000, 'close()', conn.close({
      signal: AbortSignal.timeout(50)
    }))).to.eventually.be.rejected.with.property('name').that.matches(/Abort|Timeout/)
  })

  it('sends what a handler of the idle event sends', async () => {
    const { dialer, acceptor } = await rawPair(defer)
    const received = collect(acceptor)

    dialer.addEventListener('idle', () => { dialer.send(payload(10)) }, { once: true })
    dialer.send(payload(5))
    await within(5_000, 'close()', dialer.close())

    await until(() => received.bytes === 15, 'everything has arrived')
  })

  it('ends, although somebody goes on sending whenever the socket drains', async () => {
    const { conn, socket } = await dialedPeer(defer)
    const received = readAll(socket)
    let sent = 0

    const sending = (async () => {
      while (true) {
        const isRoom = conn.send(payload(64 * KiB))
        sent += 64 * KiB

        if (!isRoom) {
          await conn.onDrain()
        }
      }
    })()
    const stopped = sending.catch((err: Error) => err)
    await until(() => conn.writableNeedsDrain, 'the socket is full')

    const before = sent
    await within(30_000, 'close()', conn.close())

    expect(await stopped).to.have.property('name', 'StreamStateError')
    expect(sent - before).to.be.within(60 * MiB, 80 * MiB)
    expect((await received).bytes).to.equal(sent)
  })

  it('takes 64 MiB more at most while the peer reads nothing', async () => {
    const { addr } = await rawPeer(defer, { pauseOnConnect: true })
    const conn = await rawTransport(defer).dial(addr)
    const piece = new Uint8Array(MiB)

    while (conn.send(piece)) {
      // the kernel takes it
    }

    conn.close().catch(() => {})

    for (let i = 0; i < 64; i++) {
      conn.send(piece)
    }

    expect(() => conn.send(piece)).to.throw().with.property('name', 'StreamStateError')
  })

  it('resolves, if the connection was lost before', async () => {
    const { conn, socket } = await dialedPeer(defer, {}, { pauseOnConnect: true })

    sendAll(conn, payload(8 * MiB))
    socket.end()
    await pEvent(conn, 'remoteCloseWrite')
    const end = closed(conn)
    socket.resetAndDestroy()
    expect((await end).error).to.have.property('name', 'StreamResetError')

    await within(1_000, 'close()', conn.close())
  })

  it('rejects, if the socket was destroyed a moment ago and not all was sent', async () => {
    const listening = await rawTransport(defer).listen()
    await Promise.all([rawClient(defer, listening.port), rawClient(defer, listening.port)])
    const conns = [await listening.next(), await listening.next()]
    const closes: Array<Promise<void>> = []

    conns.forEach((conn, i) => {
      conn.addEventListener('close', () => {
        const other = conns[1 - i]

        // its 'close' comes next
        if (other.status === 'open') {
          other.send(payload(1_000))
          closes.push(other.close())
        }
      })
    })

    await listening.listener.close()
    expect(closes).to.have.lengthOf(1)
    await expect(closes[0]).to.eventually.be.rejected.with.property('name', 'ConnectionClosedError')
  })

  it('accepts nothing more to send', async () => {
    const { dialer } = await rawPair(defer)
    const closing = dialer.close()

    expect(() => dialer.send(Uint8Array.of(1))).to.throw()
      .with.property('name', 'StreamStateError')

    await closing
  })

  it('delivers nothing from then on, not even what came before anybody listened', async () => {
    const { conn, socket } = await dialedPeer(defer, { closeTimeout: 50 })

    socket.resume().write(payload(1_000))
    await until(() => conn.readBufferLength === 1_000, 'the data waits for a listener')

    const closing = conn.close()
    const received = collect(conn)
    await closing
    await turns(5)

    expect(received.bytes).to.equal(0)
  })

  it('resolves when both sides close at once', async () => {
    const { dialer, acceptor } = await rawPair(defer)
    const received = collect(acceptor)

    dialer.send(payload(100))
    await until(() => received.bytes === 100, 'the data has arrived')
    await within(5_000, 'close()', Promise.all([dialer.close(), acceptor.close()]))

    expect(dialer.status).to.equal('closed')
    expect(acceptor.status).to.equal('closed')
  })
})
