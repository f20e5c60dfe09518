import net from 'node:net'
import { circuitRelayServer, circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { expect } from 'aegir/chai'
import { ordinary } from '../../src/dial/connect.ts'
import { reusePort } from '../../src/nat/index.ts'
import { ListeningPorts } from '../../src/nat/reuse-port.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { hostAddress } from '../fixtures/machine.ts'
import { createNode } from '../fixtures/node.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { portOf, rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { until } from '../fixtures/waiting.ts'
import { ports } from './fixtures/ports.ts'

const PLAN = { port: 'listening', fastOpen: false } as const

function listeningPorts (): ListeningPorts {
  return new ListeningPorts({ below: { connector: ordinary, bindServer () {} }, onTaken () {} })
}

describe('reusePort follows a listener', () => {
  const defer = cleanUpAfterEach()

  skipUnless(canReusePort)

  it('that is created after the first dial', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
    await dial(addr)
    await next()
    const { port } = await listen()
    await dial(addr)

    expect((await next()).remotePort).to.equal(port)
  })

  for (const ma of ['/ip4/127.0.0.1/tcp/0', '/dns4/localhost/tcp/0']) {
    it(`that is about to listen on ${ma}`, async () => {
      const { addr, next } = await rawPeer(defer)
      const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
      const listening = listen(ma)
      await dial(addr)

      expect((await next()).remotePort).to.equal((await listening).port)
    })
  }

  it('that cannot listen', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
    const { uses, options } = ports()
    const listening = listen('/ip4/192.0.2.1/tcp/0')
    await Promise.all([dial(addr, options), expect(listening).to.eventually.be.rejectedWith(/EADDRNOTAVAIL/)])
    await next()

    expect(uses).to.deep.equal(['no-listener'])
  })

  it('that never listens, until the signal of the dial', async () => {
    const ports = listeningPorts()
    const controller = new AbortController()
    ports.waitFor({ host: 'never.test', port: 0, family: 4 }, new Promise(() => {}))
    const dialing = ports.connector.open({ host: '192.0.2.1', port: 1, family: 4 }, {}, controller.signal, PLAN)
    controller.abort(new Error('enough'))

    await expect(dialing).to.eventually.be.rejectedWith('enough')
  })

  it('that never listens, for a second at most', async () => {
    const ports = listeningPorts()
    const { port } = await rawPeer(defer, { host: '127.0.0.1' })
    ports.waitFor({ host: 'localhost', port: 0, family: 4 }, new Promise(() => {}))
    const { socket, port: use } = await ports.connector.open({ host: '127.0.0.1', port, family: 4 }, {}, AbortSignal.timeout(10_000), PLAN)
    socket.destroy()

    expect(use).to.equal('no-listener')
  })

  for (const { name, target, ...endpoint } of [
    { name: 'a name, for a loopback target', host: 'never.test', family: 4 as const, target: '127.0.0.1' },
    { name: 'a name of the other family', host: 'never.test', family: 6 as const, target: '127.0.0.1' },
    { name: 'a loopback address, for another target', host: 'localhost', family: 0 as const, target: 'the address of this host' }
  ]) {
    it(`but not one that is about to listen on ${name}`, async function () {
      const address = target === '127.0.0.1' ? target : hostAddress()

      if (address == null) {
        return this.skip()
      }

      const ports = listeningPorts()
      const { port } = await rawPeer(defer, { host: address })
      ports.waitFor({ ...endpoint, port: 0 }, new Promise(() => {}))
      const start = performance.now()
      const { socket } = await ports.connector.open({ host: address, port, family: 4 }, {}, AbortSignal.timeout(10_000), PLAN)
      socket.destroy()

      expect(performance.now() - start).to.be.below(900)
    })
  }

  it('that is about to listen when libp2p dials a relay that `listen` names', async () => {
    const relay = await createNode(defer, { listen: true, services: { relay: circuitRelayServer() } })
    const relayed = relay.getMultiaddrs().map(ma => ma.encapsulate('/p2p-circuit').toString())
    const node = await createNode(defer, {
      addresses: { listen: [...relayed, '/ip4/127.0.0.1/tcp/0'] },
      transports: [circuitRelayTransport()],
      tcp: { reusePort: reusePort() }
    })
    const [own] = node.getMultiaddrs().map(portOf)

    expect(relay.getConnections(node.peerId).map(({ remoteAddr }) => portOf(remoteAddr))).to.deep.equal([own])
  })

  it('that closes', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
    const first = await listen()
    const second = await listen()
    await first.listener.close()
    await dial(addr)
    expect((await next()).remotePort).to.equal(second.port)

    await second.listener.close()
    const { uses, options } = ports()
    await dial(addr, options)
    expect(uses).to.deep.equal(['no-listener'])
  })

  it('that pauses and resumes, on the same port', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, {
      reusePort: reusePort(),
      closeServerOnMaxConnections: { closeAbove: 1, listenBelow: 1 }
    })
    const { listener, port, next: accepted } = await listen()
    const { uses, options } = ports()
    const client = net.connect(port, '127.0.0.1').on('error', () => {})
    defer(() => client.destroy())
    const held = await accepted()
    await until(() => listener.getAddrs().length === 0, 'the listener is paused')
    await dial(addr, options)

    held.abort(new Error('room for another'))
    await until(() => listener.getAddrs().length > 0, 'the listener is resumed')
    // a connection that left from the port while it was closed does not keep it from listening again
    await dial(addr, options)

    expect(uses).to.deep.equal(['no-listener', 'reused'])
    await next()
    expect((await next()).remotePort).to.equal(port)
  })
})
