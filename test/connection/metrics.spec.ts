import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { counters } from '../fixtures/counters.ts'
import { rawClient, rawPeer } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { closed, until } from '../fixtures/waiting.ts'

const DIALER_EVENTS = 'libp2p_tcp_dialer_events_total'
const DIALER_ERRORS = 'libp2p_tcp_dialer_errors_total'
const LISTENER_EVENTS = 'libp2p_tcp_listener_events_total'
const LISTENER_STATUS = 'libp2p_tcp_listener_status_info'
const INBOUND_CONNECTIONS = 'libp2p_tcp_inbound_connections_total'

describe('what is counted', () => {
  const defer = cleanUpAfterEach()

  for (const closer of ['dialer', 'acceptor'] as const) {
    it(`fault 8: a clean close is local where close() was called: at the ${closer}`, async () => {
      const { metrics, value } = counters()
      const { dial, listen } = rawTransport(defer, {}, { metrics })
      const { addr, port, next } = await listen()
      const ends = { dialer: await dial(addr), acceptor: await next() }
      const [atDialer, atAcceptor] = closer === 'dialer' ? ['local', 'remote'] : ['remote', 'local']

      await Promise.all([closed(ends.dialer), closed(ends.acceptor), ends[closer].close()])

      for (const kind of ['local', 'remote']) {
        expect(value(DIALER_EVENTS, `_${kind}_close`)).to.equal(kind === atDialer ? 1 : 0)
        expect(value(LISTENER_EVENTS, `127.0.0.1:${port} _${kind}_close`)).to.equal(kind === atAcceptor ? 1 : 0)
      }
    })
  }

  it('every end once: closes, aborts and resets', async () => {
    const { metrics, labels } = counters()
    const { dial } = rawTransport(defer, {}, { metrics })
    const { addr, next } = await rawPeer(defer)

    const conn1 = await dial(addr)
    const socket1 = await next()
    socket1.on('end', () => { socket1.end() }).resume()
    await conn1.close()

    const conn2 = await dial(addr)
    await next()
    conn2.abort(new Error('Urk!'))

    const conn3 = await dial(addr)
    const socket3 = await next()
    const event3 = closed(conn3)
    socket3.resetAndDestroy()
    await event3

    expect(labels(DIALER_EVENTS)).to.deep.equal({
      connect: 3,
      end: 3,
      _local_close: 1,
      abort: 1,
      reset: 1
    })
  })

  it('failed, aborted and refused dials', async () => {
    const { metrics, value } = counters()
    const { dial, transport } = rawTransport(defer, {}, { metrics })
    const { addr, server } = await rawPeer(defer)

    await expect(transport.dial(multiaddr(addr), {
      signal: AbortSignal.timeout(5_000),
      upgrader: {
        async upgradeOutbound () {
          throw new Error('Urk!')
        }
      } as any
    })).to.eventually.be.rejectedWith('Urk!')
    expect(value(DIALER_ERRORS, 'outbound_upgrade')).to.equal(1)

    const controller = new AbortController()
    const dialing = dial(addr, { signal: controller.signal })
    controller.abort()
    await expect(dialing).to.eventually.be.rejected()
    expect(value(DIALER_EVENTS, 'abort')).to.be.at.least(1)

    server.close()
    await expect(dial(addr)).to.eventually.be.rejected()
    expect(value(DIALER_EVENTS, 'error')).to.equal(1)
  })

  it('connections of a listener from accept to close', async () => {
    const { metrics, value } = counters()
    const { port, next, listener } = await rawTransport(defer, {}, { metrics }).listen()
    const label = `127.0.0.1:${port}`

    expect(value(LISTENER_STATUS, label)).to.equal(1)
    expect(value(INBOUND_CONNECTIONS, label)).to.equal(0)

    const socket = await rawClient(defer, port)
    await next()
    expect(value(INBOUND_CONNECTIONS, label)).to.equal(1)
    expect(value(LISTENER_EVENTS, `${label} connection`)).to.equal(1)

    socket.resume().end()
    await until(() => value(INBOUND_CONNECTIONS, label) === 0, 'the connection is gone')

    const event = pEvent(listener, 'close')
    await Promise.all([event, listener.close()])
    expect(value(LISTENER_STATUS, label)).to.equal(0)
  })
})
