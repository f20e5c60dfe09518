import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { counters } from '../fixtures/counters.ts'
import { hasLoopbackNetwork } from '../fixtures/machine.ts'
import { rawClient } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { itIf } from '../fixtures/skip.ts'
import { straceWorks, trace } from '../fixtures/strace.ts'
import { until, within } from '../fixtures/waiting.ts'
import { connectAndResetUnseen } from '../fixtures/workers.ts'

describe('accepting connections', function () {
  this.timeout(30_000)

  const defer = cleanUpAfterEach()

  it('fault 4: survives peers that reset before they are accepted', async () => {
    const { metrics, value } = counters()
    const { port, next } = await rawTransport(defer, {}, { metrics }).listen()

    // an exception here would fail the test as an uncaught one
    await connectAndResetUnseen(defer, port, 50)
    const socket = await rawClient(defer, port)
    await until(() => value('libp2p_tcp_listener_events_total', `127.0.0.1:${port} connection`) === 51, 'all are accepted')
    await until(() => value('libp2p_tcp_inbound_connections_total', `127.0.0.1:${port}`) === 1, 'only the last is left')

    const conn = await next()
    expect(conn).to.be.ok()
    expect(socket.destroyed).to.equal(false)
  })

  it('fault 4: survives peers that reset while they are accepted', async () => {
    const { port, next, accepted } = await rawTransport(defer).listen()

    await Promise.all(Array.from({ length: 100 }, async () => {
      const socket = await rawClient(defer, port)
      socket.resetAndDestroy()
      await pEvent(socket, 'close')
    }))

    await rawClient(defer, port)
    await until(() => accepted.some(({ status }) => status === 'open'), 'the last is accepted')
    await next()
  })

  it('survives metrics that throw', async () => {
    const { metrics } = counters()
    const throwing = {
      ...metrics,
      registerMetricGroup: () => ({
        increment (values: object) {
          // libp2p's own base class counts the end of a connection
          if (/ (connection|drop)$/.test(Object.keys(values).join())) {
            throw new Error('Urk!')
          }
        },
        update () { throw new Error('Urk!') }
      })
    } as unknown as typeof metrics
    const { port, next } = await rawTransport(defer, { maxConnections: 1 }, { metrics: throwing }).listen()

    await rawClient(defer, port)
    expect((await next()).status).to.equal('open')
    // this one is dropped
    await pEvent((await rawClient(defer, port)).resume(), 'end', { timeout: 5_000 })
  })

  it('fault 4: forgets connections that died during the upgrade', async () => {
    const { metrics, value } = counters()
    const upgrading = Promise.withResolvers<void>()
    const { port } = await rawTransport(defer, {}, { metrics }).listen('/ip4/127.0.0.1/tcp/0', {
      onInbound: async () => upgrading.promise
    })
    const connections = (): number => value('libp2p_tcp_inbound_connections_total', `127.0.0.1:${port}`)

    const sockets = await Promise.all(Array.from({ length: 5 }, async () => rawClient(defer, port)))
    await until(() => connections() === 5, 'all are counted')
    sockets.forEach(socket => { socket.resetAndDestroy() })
    await Promise.all(sockets.map(async socket => pEvent(socket, 'close')))
    await delay(20)
    upgrading.resolve()

    await until(() => connections() === 0, 'all are forgotten', 2_000)
  })

  it('fault 4: a failed upgrade resets the peer and is forgotten', async () => {
    const { metrics, value } = counters()
    const { port } = await rawTransport(defer, {}, { metrics }).listen('/ip4/127.0.0.1/tcp/0', {
      async onInbound () {
        throw new Error('Urk!')
      }
    })
    const socket = net.connect({ host: '127.0.0.1', port })
    socket.on('error', () => {})

    await within(2_000, 'noticing', pEvent(socket.resume(), 'close', { rejectionEvents: [] }))
    await until(() => value('libp2p_tcp_inbound_connections_total', `127.0.0.1:${port}`) === 0, 'it is forgotten')
    expect(value('libp2p_tcp_listener_errors_total', `127.0.0.1:${port} inbound_upgrade`)).to.equal(1)
  })

  itIf(hasLoopbackNetwork, 'all of 127.0.0.0/8')('reports where a connection comes from', async () => {
    const { port, next } = await rawTransport(defer).listen()
    const socket = await rawClient(defer, port, { localAddress: '127.0.0.81' })
    const conn = await next()

    expect(conn.remoteAddr.toString()).to.equal(`/ip4/127.0.0.81/tcp/${socket.localPort}`)
    expect(conn.direction).to.equal('inbound')
  })

  it('drops connections above maxConnections', async () => {
    const { metrics, value } = counters()
    const { port, next, accepted } = await rawTransport(defer, { maxConnections: 2 }, { metrics }).listen()
    const first = await rawClient(defer, port)
    await rawClient(defer, port)
    await Promise.all([next(), next()])

    const dropped = await rawClient(defer, port)
    await within(2_000, 'being dropped', pEvent(dropped.resume(), 'end'))
    expect(value('libp2p_tcp_listener_events_total', `127.0.0.1:${port} drop`)).to.equal(1)
    expect(accepted).to.have.lengthOf(2)

    first.resume().end()
    await pEvent(first, 'close')
    await until(async () => {
      await rawClient(defer, port)
      await delay(10)

      return accepted.length === 3
    }, 'another one is accepted')
  })

  itIf(straceWorks)(`backlog is the length of the kernel's queue${straceWorks ? '' : ' (SKIPPED: strace is missing or not allowed)'}`, async () => {
    const child = await trace(defer, ['listen'], 'connect-to-self.ts', [{ backlog: 7 }])
    const calls = (await child.calls()).filter(call => call.includes('TCP'))

    // with linux() it is set before Node knows the socket, too
    expect(calls).to.have.lengthOf(process.env.TRANSPORT === 'linux' ? 2 : 1)
    calls.forEach(call => { expect(call).to.match(/, 7\) = 0/) })
  })
})
