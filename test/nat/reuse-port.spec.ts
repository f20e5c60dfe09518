import net from 'node:net'
import { circuitRelayServer, circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { ordinary } from '../../src/dial/connect.ts'
import { ReusePortUnsupportedError } from '../../src/index.ts'
import { ReusePort } from '../../src/nat/reuse-port.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { freePort } from '../fixtures/free-port.ts'
import { hostAddress, lookupOf } from '../fixtures/machine.ts'
import { createNode, ECHO } from '../fixtures/node.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { portOf, rawTransport } from '../fixtures/raw.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { until } from '../fixtures/waiting.ts'
import type { TCPDialOptions } from '../../src/index.ts'

interface Ports {
  uses: string[]
  options: Partial<TCPDialOptions>
}

/** Collects what dials tell of the port that they left from */
function ports (): Ports {
  const uses: string[] = []

  return {
    uses,
    options: {
      onProgress: (event: any) => {
        if (event.type === 'tcp:local-port') {
          uses.push(event.detail)
        }
      }
    }
  }
}

describe('reusePort where it is not supported', () => {
  const { BoundSocket } = net

  afterEach(() => {
    Reflect.set(net, 'BoundSocket', BoundSocket)
  })

  it('is an error when the node is created, if Node has no BoundSocket', async () => {
    Reflect.set(net, 'BoundSocket', undefined)

    await expect(createNode(() => {}, { tcp: { reusePort: true } })).to.eventually.be.rejectedWith(/Node 24\.21/)
      .and.to.be.an.instanceOf(ReusePortUnsupportedError)
  })

  it('is an error when the node is created, if the system has no SO_REUSEPORT', async () => {
    Reflect.set(net, 'BoundSocket', class {
      constructor () {
        throw Object.assign(new Error('bind ENOTSUP'), { code: 'ENOTSUP' })
      }
    })

    await expect(createNode(() => {}, { tcp: { reusePort: true } })).to.eventually.be.rejectedWith(/SO_REUSEPORT/)
      .and.to.be.an.instanceOf(ReusePortUnsupportedError)
  })

  it('is not asked for by default', async function () {
    if (process.env.TRANSPORT === 'reuse-port') {
      return this.skip()
    }

    Reflect.set(net, 'BoundSocket', undefined)

    const node = await createNode(() => {})
    await node.stop()
  })
})

describe('reusePort', () => {
  const defer = cleanUpAfterEach()

  before(function () {
    if (!canReusePort) {
      this.skip()
    }
  })

  for (const [listen, host] of [
    ['/ip4/127.0.0.1/tcp/0', '127.0.0.1'],
    ['/ip4/0.0.0.0/tcp/0', '127.0.0.1'],
    ['/ip6/::1/tcp/0', '::1'],
    ['/ip6/::/tcp/0', '::1']
  ]) {
    it(`lets a dial leave from ${listen}`, async () => {
      const { addr, next } = await rawPeer(defer, { host })
      const { dial, listen: start } = rawTransport(defer, { reusePort: true })
      const { port } = await start(listen)
      const { uses, options } = ports()

      await dial(addr, options)

      expect(await next()).to.have.property('remotePort', port)
      expect(uses).to.deep.equal(['reused'])
    })
  }

  it('lets a dial leave from the specific address that the route leads over', async function () {
    const address = hostAddress()

    if (address == null) {
      return this.skip()
    }

    const { addr, next } = await rawPeer(defer, { host: address })
    const { dial, listen } = rawTransport(defer, { reusePort: true })
    await listen('/ip4/127.0.0.1/tcp/0')
    const { port } = await listen(`/ip4/${address}/tcp/0`)

    await dial(addr)
    expect(await next()).to.include({ remotePort: port, remoteAddress: address })
  })

  it('is off by default, and for a dial that says so', async () => {
    const { addr, next } = await rawPeer(defer)
    const off = rawTransport(defer, { reusePort: false })
    const { port } = await off.listen()
    await off.dial(addr)
    expect((await next()).remotePort).to.not.equal(port)

    const on = rawTransport(defer, { reusePort: true })
    const listener = await on.listen()
    const { uses, options } = ports()
    await on.dial(addr, { reusePort: false, ...options })
    expect((await next()).remotePort).to.not.equal(listener.port)
    expect(uses).to.deep.equal(['option'])
  })

  it('yields to localAddress and localPort', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: true })
    const localPort = await freePort()
    await listen()
    await dial(addr, { localPort })

    expect((await next()).remotePort).to.equal(localPort)
  })

  it('keeps the options of the socket', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: true, dialOpts: { timeout: 60_000 } })
    await listen()
    const maConn = await dial(addr)
    const socket = await next()

    socket.end('from the peer')
    const { data } = await pEvent<string, any>(maConn as any, 'message')
    expect(data.subarray()).to.deep.equal(new TextEncoder().encode('from the peer'))
  })

  it('finds the listening port for a name', async () => {
    const { port, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: true })
    const listener = await listen()
    const { uses, options } = ports()
    await dial(`/dns4/localhost/tcp/${port}`, options)
    const other = await rawPeer(defer)
    await dial(`/dns/only4.test/tcp/${other.port}`, {
      ...options,
      // one that knows nothing of `all`
      lookup: (name, options, callback) => { callback(null, '127.0.0.1', 4) }
    })

    expect((await next()).remotePort).to.equal(listener.port)
    expect((await other.next()).remotePort).to.equal(listener.port)
    expect(uses).to.deep.equal(['reused', 'reused'])
  })

  it('finds the listening port for the family of a name that answers', async () => {
    const { port, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: true })
    const listener = await listen()
    const { uses, options } = ports()
    await dial(`/dns/both.test/tcp/${port}`, { ...options, lookup: lookupOf(['::1', '127.0.0.1']) })

    expect((await next()).remotePort).to.equal(listener.port)
    expect(uses).to.deep.equal(['reused'])
  })

  it('reports a name that nobody knows as without it', async () => {
    const { dial, listen } = rawTransport(defer, { reusePort: true })
    await listen()

    await expect(dial('/dns4/nobody.invalid/tcp/1')).to.eventually.be.rejected.with.property('name', 'ConnectionFailedError')
  })

  it('ends a look-up that does not end with the signal', async () => {
    const { dial, listen } = rawTransport(defer, { reusePort: true })
    await listen()
    const controller = new AbortController()
    const dialing = dial('/dns4/never.test/tcp/1', { signal: controller.signal, lookup: () => {} })
    controller.abort()

    await expect(dialing).to.eventually.be.rejected.with.property('name', 'AbortError')
  })

  it('dials from any port while a connection from the listening port is live', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: true })
    const { port } = await listen()
    const { uses, options } = ports()

    await dial(addr, options)
    await dial(addr, options)

    expect((await next()).remotePort).to.equal(port)
    expect((await next()).remotePort).to.not.equal(port)
    expect(uses).to.deep.equal(['reused', 'taken'])
  })

  it('counts a dial from another port once, and as no error', async () => {
    const counts: Record<string, number> = {}
    const group = (name: string): any => ({
      increment: (values: Record<string, unknown>) => {
        Object.keys(values).forEach(key => { counts[`${name} ${key}`] = (counts[`${name} ${key}`] ?? 0) + 1 })
      },
      update: () => {}
    })
    const metrics: any = { registerCounterGroup: group, registerMetricGroup: group }
    const { addr } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: true }, { metrics })
    await listen()
    await dial(addr)
    await dial(addr)

    expect(counts).to.include({
      'libp2p_tcp_dialer_events_total connect': 2,
      'libp2p_tcp_dial_ports_total reused': 1,
      'libp2p_tcp_dial_ports_total taken': 1
    })
    expect(counts).to.not.have.property('libp2p_tcp_dialer_events_total error')
  })

  it('does not dial again where nobody listens', async () => {
    const { dial, listen } = rawTransport(defer, { reusePort: true })
    await listen()
    const progress: string[] = []

    await expect(dial(`/ip4/127.0.0.1/tcp/${await freePort()}`, { onProgress: ({ type }: any) => { progress.push(type) } }))
      .to.eventually.be.rejected.with.property('code', 'ECONNREFUSED')
    expect(progress).to.deep.equal(['tcp:open-connection'])
  })

  it('does not connect a socket to itself', async () => {
    const { dial, listen } = rawTransport(defer, { reusePort: true })
    const { addr, port, next } = await listen()
    const { uses, options } = ports()
    await dial(addr, options)

    expect(uses).to.deep.equal(['taken'])
    expect((await next()).remoteAddr.toString()).to.not.equal(`/ip4/127.0.0.1/tcp/${port}`)
  })

  it('dials a thousand times in a row, each closed before the next', async function () {
    this.timeout(120_000)

    const { dial, listen } = rawTransport(defer, { reusePort: true })
    const peer = rawTransport(defer)
    const { addr, accepted } = await peer.listen(undefined, { onInbound: () => {} })
    await listen()
    const { uses, options } = ports()

    for (let i = 0; i < 1_000; i++) {
      const maConn = await dial(addr, options)
      await maConn.close()
    }

    await until(() => accepted.length === 1_000, 'all are accepted')
    expect(uses).to.have.lengthOf(1_000)
    expect(uses[0]).to.equal('reused')
  })

  describe('follows a listener', () => {
    it('that is created after the first dial', async () => {
      const { addr, next } = await rawPeer(defer)
      const { dial, listen } = rawTransport(defer, { reusePort: true })
      await dial(addr)
      await next()
      const { port } = await listen()
      await dial(addr)

      expect((await next()).remotePort).to.equal(port)
    })

    for (const ma of ['/ip4/127.0.0.1/tcp/0', '/dns4/localhost/tcp/0']) {
      it(`that is about to listen on ${ma}`, async () => {
        const { addr, next } = await rawPeer(defer)
        const { dial, listen } = rawTransport(defer, { reusePort: true })
        const listening = listen(ma)
        await dial(addr)

        expect((await next()).remotePort).to.equal((await listening).port)
      })
    }

    it('that cannot listen', async () => {
      const { addr, next } = await rawPeer(defer)
      const { dial, listen } = rawTransport(defer, { reusePort: true })
      const { uses, options } = ports()
      const listening = listen('/ip4/192.0.2.1/tcp/0')
      await Promise.all([dial(addr, options), expect(listening).to.eventually.be.rejectedWith(/EADDRNOTAVAIL/)])
      await next()

      expect(uses).to.deep.equal(['no-listener'])
    })

    it('that never listens, until the signal of the dial', async () => {
      const reusePort = new ReusePort(() => {})
      const controller = new AbortController()
      reusePort.waitFor({ host: 'never.test', port: 0, family: 4 }, new Promise(() => {}))
      const dialing = reusePort.connector(ordinary, false).open({ host: '192.0.2.1', port: 1, family: 4 }, {}, controller.signal)
      controller.abort(new Error('enough'))

      await expect(dialing).to.eventually.be.rejectedWith('enough')
    })

    it('that never listens, for a second at most', async () => {
      const reusePort = new ReusePort(() => {})
      const { port } = await rawPeer(defer, { host: '127.0.0.1' })
      reusePort.waitFor({ host: 'localhost', port: 0, family: 4 }, new Promise(() => {}))
      const { socket, port: use } = await reusePort.connector(ordinary, false).open({ host: '127.0.0.1', port, family: 4 }, {}, AbortSignal.timeout(10_000))
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

        const reusePort = new ReusePort(() => {})
        const { port } = await rawPeer(defer, { host: address })
        reusePort.waitFor({ ...endpoint, port: 0 }, new Promise(() => {}))
        const start = performance.now()
        const { socket } = await reusePort.connector(ordinary, false).open({ host: address, port, family: 4 }, {}, AbortSignal.timeout(10_000))
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
        tcp: { reusePort: true }
      })
      const [own] = node.getMultiaddrs().map(portOf)

      expect(relay.getConnections(node.peerId).map(({ remoteAddr }) => portOf(remoteAddr))).to.deep.equal([own])
    })

    it('that closes', async () => {
      const { addr, next } = await rawPeer(defer)
      const { dial, listen } = rawTransport(defer, { reusePort: true })
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
        reusePort: true,
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

  it('leaves a port alone that the peer has connected to', async () => {
    const { dial, listen } = rawTransport(defer, { reusePort: true })
    const { port, next } = await listen()
    const peer = await rawPeer(defer)
    const bound = new net.BoundSocket({ host: '127.0.0.1', port: 0, reusePort: true })
    const { port: peerPort } = bound.address()
    const client = new net.Socket({ handle: bound }).connect(port, '127.0.0.1')
    client.on('error', () => {})
    const accepted = await next()
    accepted.abort(new Error('that was all'))
    client.resetAndDestroy()
    await until(() => client.closed, 'the peer has closed its connection')
    peer.server.close()
    const back = await rawPeer(defer, { port: peerPort })
    const { uses, options } = ports()

    await dial(back.addr, options)
    await dial(back.addr, { ...options, reusePort: true })

    expect(uses).to.deep.equal(['recent', 'reused'])
  })

  it('lets two nodes dial each other at once', async function () {
    this.timeout(240_000)

    const one = await createNode(defer, { listen: true, tcp: { reusePort: true } })
    const other = await createNode(defer, { listen: true, tcp: { reusePort: true } })
    const dials = async (from: typeof one, to: typeof one): Promise<void> => {
      const connection = await from.dial(to.getMultiaddrs(), { force: true })
      const stream = await connection.newStream(ECHO)
      stream.send(Uint8Array.of(1))
      await pEvent(stream as any, 'message')
      await connection.close()
    }

    for (let i = 0; i < (isThorough ? 1_000 : 100); i++) {
      await Promise.all([dials(one, other), dials(other, one)])
    }
  })
})
