import { once } from 'node:events'
import { expect } from 'aegir/chai'
import { KiB, payload, tally } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { counters } from '../fixtures/counters.ts'
import { isGone, rawClient, readAll } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { until, within } from '../fixtures/waiting.ts'
import type { TCPOptions } from '../../src/index.ts'
import type { RawListener } from '../fixtures/raw.ts'
import type { Socket } from 'node:net'

/** Sooner than any socket that lingers is destroyed for its silence */
const SOON = 2_000

describe('a listener whose peers withhold their FIN', () => {
  const defer = cleanUpAfterEach()

  /** Connect, as soon as the listener listens */
  async function connect (port: number): Promise<Socket> {
    let socket: Socket | undefined

    await until(async () => {
      socket = await rawClient(defer, port).catch(() => undefined)
      return socket != null
    }, 'the listener listens')

    return socket as Socket
  }

  /** Accept a connection and close it; the peer leaves its own end open */
  async function lingering ({ port, next }: RawListener): Promise<Socket> {
    const socket = await connect(port)
    const ended = once(socket.resume(), 'end')

    await (await next()).close()
    await ended

    return socket
  }

  for (const [name, options] of Object.entries<TCPOptions>({
    maxConnections: { maxConnections: 2 },
    closeServerOnMaxConnections: { closeServerOnMaxConnections: { closeAbove: 2, listenBelow: 2 } }
  })) {
    it(`gives the slots of ${name} to newcomers`, async () => {
      const listener = await rawTransport(defer, options).listen()

      for (let i = 0; i < 6; i++) {
        await within(SOON, `accepting connection ${i}`, lingering(listener))
      }
    })

    it(`keeps no more than ${name} sockets open`, async () => {
      const { metrics, labels } = counters()
      const listener = await rawTransport(defer, { ...options }, { metrics }).listen()
      const sockets = [await lingering(listener), await lingering(listener), await lingering(listener)]

      await until(() => Object.values(labels('libp2p_tcp_inbound_connections_total'))[0] <= 2, 'no more are open')
      await isGone(sockets[0])
    })
  }

  it('drops newcomers where nobody lingers any more', async () => {
    const { metrics, labels } = counters()
    const listener = await rawTransport(defer, { maxConnections: 3 }, { metrics }).listen()

    for (let i = 0; i < 3; i++) {
      await lingering(listener)
    }

    const before = listener.accepted.length
    const newcomers = await Promise.all(Array.from({ length: 10 }, async () => rawClient(defer, listener.port)))
    let dropped = 0

    newcomers.forEach(socket => { socket.resume().on('end', () => { dropped++ }) })
    await until(() => dropped === 7, 'seven are dropped', SOON)
    expect(listener.accepted.length - before).to.equal(3)
    expect(labels('libp2p_tcp_listener_events_total')).to.have.property(`127.0.0.1:${listener.port} drop`, 7)
  })

  it('lets who has to go read everything, if it sent something in that moment', async () => {
    const listener = await rawTransport(defer, { maxConnections: 1 }).listen()
    const socket = await rawClient(defer, listener.port)
    const conn = await listener.next()
    // as much as the kernel takes with a low-water mark too, while the peer does not read
    const data = payload(64 * KiB)

    conn.send(data)
    await conn.close()

    const newcomer = rawClient(defer, listener.port)
    // Node connects in the next tick: the listener is told of the newcomer first
    process.nextTick(() => { socket.write('I am still here') })
    await newcomer
    await listener.next()
    expect(await within(SOON, 'reading', readAll(socket))).to.deep.equal(tally(data))
  })
})
