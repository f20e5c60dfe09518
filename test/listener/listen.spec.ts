import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach, temporaryDirectory } from '../fixtures/cleanup.ts'
import { hasUnixSockets, linkLocal, loopback6 } from '../fixtures/machine.ts'
import { rawClient, rawPeer } from '../fixtures/peers.ts'
import { passThrough, rawTransport, toMultiaddr } from '../fixtures/raw.ts'
import { itIf } from '../fixtures/skip.ts'
import { slowLookups } from '../fixtures/slow-lookups.ts'
import { openHandles, within } from '../fixtures/waiting.ts'

const loopback = loopback6()
const withLoopback6 = loopback == null ? ' (SKIPPED: no IPv6 here)' : ''
const zoned = linkLocal()
const withLinkLocal = zoned == null ? ' (SKIPPED: no link-local IPv6 address here)' : ''

describe('the address that is listened on', () => {
  const defer = cleanUpAfterEach()

  async function answersAt (ma: string): Promise<string> {
    const { dial, listen } = rawTransport(defer)
    const { addr, next } = await listen(ma)
    const conn = await dial(addr)
    await next()
    await conn.close()

    return addr.toString()
  }

  it('/ip4', async () => {
    expect(await answersAt('/ip4/127.0.0.1/tcp/0')).to.match(/^\/ip4\/127\.0\.0\.1\/tcp\/[1-9]\d*$/)
  })

  itIf(loopback != null)(`/ip6${withLoopback6}`, async () => {
    expect(await answersAt('/ip6/::1/tcp/0')).to.match(/^\/ip6\/::1\/tcp\/[1-9]\d*$/)
  })

  itIf(loopback != null)(`/ip6zone of the loopback interface${withLoopback6}`, async () => {
    expect(await answersAt(`/ip6zone/${loopback}/ip6/::1/tcp/0`)).to.match(/^\/ip6zone\/\w+\/ip6\/::1\/tcp\/[1-9]\d*$/)
  })

  it(`fault 5: /ip6zone of a link-local address${withLinkLocal}`, async function () {
    if (zoned == null) {
      return this.skip()
    }

    const prefix = `/ip6zone/${zoned.zone}/ip6/${zoned.address}/tcp/`
    expect(await answersAt(`${prefix}0`)).to.include(prefix)
  })

  it('/dns4', async () => {
    const { listener } = await rawTransport(defer).listen('/dns4/localhost/tcp/0')
    const [, port] = /\/tcp\/(\d+)/.exec(listener.getAddrs()[0].toString()) ?? []

    await rawClient(defer, Number(port))
  })

  /** A path that nobody has */
  async function unixPath (): Promise<string> {
    return join(await temporaryDirectory(defer), 'a.sock')
  }

  itIf(hasUnixSockets, 'unix sockets')('/unix', async () => {
    const addr = `/unix/${encodeURIComponent(await unixPath())}`

    expect(await answersAt(addr)).to.equal(addr)
  })

  itIf(hasUnixSockets, 'unix sockets')('/unix is not reported once it is closed', async () => {
    const { listener } = await rawTransport(defer).listen(`/unix/${encodeURIComponent(await unixPath())}`)
    expect(listener.getAddrs()).to.have.lengthOf(1)

    await listener.close()
    expect(listener.getAddrs()).to.be.empty()
  })

  itIf(hasUnixSockets, 'unix sockets')('/unix is not reported if another process has it', async () => {
    const { addr } = await rawPeer(defer, { path: await unixPath() })
    const listener = rawTransport(defer).transport.createListener({ upgrader: passThrough() })

    await expect(listener.listen(multiaddr(addr))).to.eventually.be.rejected.with.property('code', 'EADDRINUSE')
    expect(listener.getAddrs()).to.be.empty()
  })

  it('with a peer id behind it, which it does not report', async () => {
    expect(await answersAt('/ip4/127.0.0.1/tcp/0/p2p/12D3KooWCCSMskW88GTUBTYFvtDEuTaBN9oiFvs5LRDHVBRVkcGX'))
      .to.match(/^\/ip4\/127\.0\.0\.1\/tcp\/\d+$/)
  })

  it('the IPv4 wildcard is reported as the addresses of this machine', async () => {
    const { listener, port } = await rawTransport(defer).listen('/ip4/0.0.0.0/tcp/0')
    const expected = Object.values(networkInterfaces())
      .flatMap(addresses => addresses ?? [])
      .filter(({ family }) => family === 'IPv4')
      .map(({ address }) => `/ip4/${address}/tcp/${port}`)

    expect(listener.getAddrs().map(String)).to.include(`/ip4/127.0.0.1/tcp/${port}`)
    expect(expected).to.include.members(listener.getAddrs().map(String))
  })

  itIf(loopback != null)(`the IPv6 wildcard is IPv6 only${withLoopback6}`, async () => {
    // someone else has the port of IPv4 already: a dual-stack socket could not be bound to it
    const ipv4 = await rawPeer(defer, { host: '0.0.0.0' })
    const { listener, accepted } = await rawTransport(defer).listen(`/ip6/::/tcp/${ipv4.port}`)

    expect(listener.getAddrs().map(String)).to.include(`/ip6/::1/tcp/${ipv4.port}`)
    await rawClient(defer, ipv4.port)
    await ipv4.next()
    expect(accepted).to.be.empty()
  })
})

describe('listening', () => {
  const defer = cleanUpAfterEach()

  itIf(loopback != null)(`the IPv6 wildcard takes IPv4 too, if the options say so${withLoopback6}`, async () => {
    const byTransport = await rawTransport(defer, { listenOpts: { ipv6Only: false } }).listen('/ip6/::/tcp/0')
    const byListener = await rawTransport(defer, { listenOpts: { ipv6Only: true } }).listen('/ip6/::/tcp/0', { ipv6Only: false })

    for (const { port, next } of [byTransport, byListener]) {
      await rawClient(defer, port, { host: '127.0.0.1' })
      expect((await next()).remoteAddr.toString()).to.match(/^\/ip6\/::ffff:.*\/tcp\/\d+$/)
    }
  })

  it('reports when it begins and when it ends', async () => {
    const { transport } = rawTransport(defer)
    const listener = transport.createListener({ upgrader: passThrough() })
    const events: string[] = []

    listener.addEventListener('listening', () => { events.push('listening') })
    listener.addEventListener('close', () => { events.push('close') })

    expect(listener.getAddrs()).to.be.empty()
    await listener.listen(multiaddr('/ip4/127.0.0.1/tcp/0'))
    expect(listener.getAddrs()).to.have.lengthOf(1)
    await listener.close()
    expect(listener.getAddrs()).to.be.empty()
    expect(events).to.deep.equal(['listening', 'close'])
  })

  it('rejects when the port is taken, and can be tried again', async () => {
    const { port, server } = await rawPeer(defer)
    const { transport } = rawTransport(defer)
    const listener = transport.createListener({ upgrader: passThrough() })
    defer(async () => listener.close())
    const addr = multiaddr(`/ip4/127.0.0.1/tcp/${port}`)

    await expect(listener.listen(addr)).to.eventually.be.rejected.with.property('code', 'EADDRINUSE')
    server.close()
    await pEvent(server, 'close')
    await listener.listen(addr)
  })

  it('rejects when it listens already, or was closed', async () => {
    const { listener } = await rawTransport(defer).listen()
    const again = async (): Promise<void> => listener.listen(multiaddr('/ip4/127.0.0.1/tcp/0'))

    await expect(again()).to.eventually.be.rejected.with.property('name', 'AlreadyStartedError')
    await listener.close()
    await expect(again()).to.eventually.be.rejected.with.property('name', 'ListenError')
  })

  it('close() waits for every connection, and leaves no socket', async () => {
    const before = openHandles()
    const { port, listener, accepted } = await rawTransport(defer).listen()
    const sockets = await Promise.all(Array.from({ length: 5 }, async () => rawClient(defer, port)))
    const ends = sockets.map(async socket => pEvent(socket.resume(), 'close', { rejectionEvents: [] }))
    sockets.forEach(socket => { socket.on('end', () => { socket.end() }) })

    await within(2_000, 'close()', listener.close())
    expect(accepted.map(({ status }) => status)).to.not.include('open')
    await Promise.all(ends)
    expect(openHandles()).to.deep.equal(before)
  })

  it('close() gives up upgrades that are under way', async () => {
    const { port, listener } = await rawTransport(defer).listen('/ip4/127.0.0.1/tcp/0', {
      onInbound: async () => new Promise(() => {})
    })
    const socket = await rawClient(defer, port)
    const ended = pEvent(socket.resume(), 'close', { rejectionEvents: [] })
    socket.on('end', () => { socket.end() })

    await within(2_000, 'close()', listener.close())
    await ended
  })

  it('close() twice resolves', async () => {
    const { listener } = await rawTransport(defer).listen()

    await within(2_000, 'close()', Promise.all([listener.close(), listener.close()]))
    await within(2_000, 'close()', listener.close())
  })

  for (const addr of ['/dns4/localhost/tcp/0', '/ip4/127.0.0.1/tcp/0']) {
    it(`close() while ${addr} is about to be listened on leaves no server`, async () => {
      const { transport } = rawTransport(defer)
      const listener = transport.createListener({ upgrader: passThrough() })
      const listening = listener.listen(toMultiaddr(addr))

      await listener.close()
      await listening.catch(() => {})
      await new Promise(resolve => { setImmediate(resolve) })

      expect(listener.getAddrs()).to.be.empty()
    })
  }

  it('close() while a name is looked up ends listen() at once', async () => {
    const release = slowLookups(defer)()
    defer(release)

    const { transport } = rawTransport(defer)
    const listener = transport.createListener({ upgrader: passThrough() })
    const listening = listener.listen(toMultiaddr('/dns4/localhost/tcp/0'))
    let isToldClosed = false

    listening.catch(() => {})
    listener.addEventListener('close', () => { isToldClosed = true })

    await turns(5)
    await within(1_000, 'close()', listener.close())
    expect(isToldClosed, 'it had not told that it listens').to.be.false()
    await expect(within(1_000, 'listen()', listening)).to.eventually.be.rejected.with.property('name', 'AbortError')
  })

  it('close() without listen() resolves', async () => {
    const { transport } = rawTransport(defer)
    await within(2_000, 'close()', transport.createListener({ upgrader: passThrough() }).close())
  })
})
