import net from 'node:net'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { reusePort } from '../../src/nat/index.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { freePort } from '../fixtures/free-port.ts'
import { hostAddress, lookupOf } from '../fixtures/machine.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import { isThorough } from '../fixtures/thorough.ts'
import { until } from '../fixtures/waiting.ts'
import { ports } from './fixtures/ports.ts'

const DIALS = isThorough ? 1_000 : 200

describe('reusePort', () => {
  const defer = cleanUpAfterEach()

  skipUnless(canReusePort)

  for (const [listen, host] of [
    ['/ip4/127.0.0.1/tcp/0', '127.0.0.1'],
    ['/ip4/0.0.0.0/tcp/0', '127.0.0.1'],
    ['/ip6/::1/tcp/0', '::1'],
    ['/ip6/::/tcp/0', '::1']
  ]) {
    it(`lets a dial leave from ${listen}`, async () => {
      const { addr, next } = await rawPeer(defer, { host })
      const { dial, listen: start } = rawTransport(defer, { reusePort: reusePort() })
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
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
    await listen('/ip4/127.0.0.1/tcp/0')
    const { port } = await listen(`/ip4/${address}/tcp/0`)

    await dial(addr)
    expect(await next()).to.include({ remotePort: port, remoteAddress: address })
  })

  it('is off by default, and for a dial that says so', async () => {
    const { addr, next } = await rawPeer(defer)
    const off = rawTransport(defer)
    const { port } = await off.listen()
    await off.dial(addr)
    expect((await next()).remotePort).to.not.equal(port)

    const on = rawTransport(defer, { reusePort: reusePort() })
    const listener = await on.listen()
    const { uses, options } = ports()
    await on.dial(addr, { reusePort: false, ...options })
    expect((await next()).remotePort).to.not.equal(listener.port)
    expect(uses).to.deep.equal(['option'])
  })

  for (const hosts of [['127.0.0.1', '127.0.0.1'], ['0.0.0.0', '127.0.0.1']]) {
    it(`lets one of two transports have a port that begin at once, on ${hosts.join(' and ')}`, async () => {
      const port = await freePort()
      const results = await Promise.allSettled(hosts.map(async host => rawTransport(defer, { reusePort: reusePort() }).listen(`/ip4/${host}/tcp/${port}`)))

      expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected'])
      expect(results[1]).to.have.nested.property('reason.code', 'EADDRINUSE')

      // a claim ends with its listener
      const again = await freePort()
      const { listener } = await rawTransport(defer, { reusePort: reusePort() }).listen(`/ip4/${hosts[0]}/tcp/${again}`)

      await listener.close()
      await rawTransport(defer, { reusePort: reusePort() }).listen(`/ip4/${hosts[1]}/tcp/${again}`)
    })
  }

  it('yields to localAddress and localPort', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
    const localPort = await freePort()
    await listen()
    await dial(addr, { localPort })

    expect((await next()).remotePort).to.equal(localPort)
  })

  it('keeps the options of the socket', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort(), dialOpts: { timeout: 60_000 } })
    await listen()
    const maConn = await dial(addr)
    const socket = await next()

    socket.end('from the peer')
    const { data } = await pEvent<string, any>(maConn as any, 'message')
    expect(data.subarray()).to.deep.equal(new TextEncoder().encode('from the peer'))
  })

  it('finds the listening port for a name', async () => {
    const { port, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
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
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
    const listener = await listen()
    const { uses, options } = ports()
    await dial(`/dns/both.test/tcp/${port}`, { ...options, lookup: lookupOf(['::1', '127.0.0.1']) })

    expect((await next()).remotePort).to.equal(listener.port)
    expect(uses).to.deep.equal(['reused'])
  })

  it('reports a name that nobody knows as without it', async () => {
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
    await listen()

    await expect(dial('/dns4/nobody.invalid/tcp/1')).to.eventually.be.rejected.with.property('name', 'ConnectionFailedError')
  })

  it('ends a look-up that does not end with the signal', async () => {
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
    await listen()
    const controller = new AbortController()
    const dialing = dial('/dns4/never.test/tcp/1', { signal: controller.signal, lookup: () => {} })
    controller.abort()

    await expect(dialing).to.eventually.be.rejected.with.property('name', 'AbortError')
  })

  it('dials from any port while a connection from the listening port is live', async () => {
    const { addr, next } = await rawPeer(defer)
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
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
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() }, { metrics })
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
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
    await listen()
    const progress: string[] = []

    await expect(dial(`/ip4/127.0.0.1/tcp/${await freePort()}`, { onProgress: ({ type }: any) => { progress.push(type) } }))
      .to.eventually.be.rejected.with.property('code', 'ECONNREFUSED')
    expect(progress).to.deep.equal(['tcp:open-connection'])
  })

  it('does not connect a socket to itself', async () => {
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
    const { addr, port, next } = await listen()
    const { uses, options } = ports()
    await dial(addr, options)

    expect(uses).to.deep.equal(['taken'])
    expect((await next()).remoteAddr.toString()).to.not.equal(`/ip4/127.0.0.1/tcp/${port}`)
  })

  it(`dials ${DIALS} times in a row, each closed before the next`, async function () {
    this.timeout(120_000)

    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
    const peer = rawTransport(defer)
    const { addr, accepted } = await peer.listen(undefined, { onInbound: () => {} })
    await listen()
    const { uses, options } = ports()

    for (let i = 0; i < DIALS; i++) {
      const maConn = await dial(addr, options)
      await maConn.close()
    }

    await until(() => accepted.length === DIALS, 'all are accepted')
    expect(uses).to.have.lengthOf(DIALS)
    expect(uses[0]).to.equal('reused')
  })

  it('leaves a port alone that the peer has connected to', async () => {
    const { dial, listen } = rawTransport(defer, { reusePort: reusePort() })
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
})
