import { isTransport, serviceCapabilities } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { turns } from '../fixtures/bytes.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawClient, rawPeer } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { openSockets, until, within } from '../fixtures/waiting.ts'
import type { ComponentLogger, Logger } from '@libp2p/interface'

const PEER_ID = '12D3KooWCCSMskW88GTUBTYFvtDEuTaBN9oiFvs5LRDHVBRVkcGX'

const SUPPORTED = [
  '/ip4/127.0.0.1/tcp/9090',
  '/ip6/::1/tcp/9090',
  '/ip6zone/lo/ip6/::1/tcp/9090',
  '/dns/example.com/tcp/9090',
  '/dns4/example.com/tcp/9090',
  '/dns6/example.com/tcp/9090',
  '/unix/%2Ftmp%2Fa.sock',
  `/ip4/127.0.0.1/tcp/9090/p2p/${PEER_ID}`,
  `/unix/%2Ftmp%2Fa.sock/p2p/${PEER_ID}`
]

const UNSUPPORTED = [
  '/ip4/127.0.0.1/udp/9090',
  '/ip4/127.0.0.1/udp/9090/quic-v1',
  '/ip4/127.0.0.1/tcp/9090/http',
  '/ip4/127.0.0.1/tcp/9090/ws',
  '/ip4/127.0.0.1/tcp/9090/tls/ws',
  '/ip4/127.0.0.1',
  '/ip4/127.0.0.0/ipcidr/8/tcp/9090',
  `/ip4/127.0.0.1/tcp/9090/p2p/${PEER_ID}/p2p-circuit`,
  `/p2p/${PEER_ID}`
]

describe('the transport', () => {
  const defer = cleanUpAfterEach()

  it('is a libp2p transport', () => {
    const { transport } = rawTransport(defer)

    expect(isTransport(transport)).to.equal(true)
    expect(transport).to.have.property(serviceCapabilities).that.deep.equals(['@libp2p/transport'])
    expect(Object.prototype.toString.call(transport)).to.equal('[object @libp2p/tcp]')
  })

  it('dials and listens on TCP and unix socket addresses only', () => {
    const { transport } = rawTransport(defer)
    const all = [...SUPPORTED, ...UNSUPPORTED].map(ma => multiaddr(ma))

    expect(transport.dialFilter(all).map(String)).to.deep.equal(SUPPORTED)
    expect(transport.listenFilter(all).map(String)).to.deep.equal(SUPPORTED)
  })

  it('can be created without options', () => {
    expect(() => rawTransport(defer)).to.not.throw()
  })

  it('takes a timeout that is longer than timers count for the longest', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => { warnings.push(warning) }
    process.on('warning', onWarning)
    defer(() => { process.off('warning', onWarning) })

    const { addr, next } = await rawPeer(defer)
    const { transport, dial } = rawTransport(defer, {
      closeTimeout: 2 ** 31 - 1,
      inboundSocketInactivityTimeout: Number.MAX_SAFE_INTEGER,
      outboundSocketInactivityTimeout: 2 ** 31,
      stalledWriteTimeout: Infinity
    })
    await dial(addr)
    const socket = await next()

    const stopped = transport.stop?.()
    await turns(20)
    socket.resetAndDestroy()
    await stopped
    expect(warnings).to.be.empty()
  })

  it('reports that it opens a connection', async () => {
    const { addr } = await rawPeer(defer)
    const events: string[] = []

    await rawTransport(defer).dial(addr, {
      onProgress: (evt: { type: string }) => { events.push(evt.type) }
    })

    // with reusePort the local port has an event too
    expect(events.filter(type => type !== 'tcp:local-port')).to.deep.equal(['tcp:open-connection'])
  })

  it('logs under the names that log filters know', async () => {
    const names = new Set<string>()
    const { dial, listen } = rawTransport(defer, {}, { logger: recordNames(names) })
    const { addr, next } = await listen()
    const conn = await dial(addr)
    await next()
    await conn.close()

    expect([...names].sort()).to.deep.equal([
      'libp2p:tcp',
      'libp2p:tcp:connection',
      'libp2p:tcp:listener'
    ])
  })

  it('stop() leaves no socket, dialed or accepted', async () => {
    const peer = await rawPeer(defer)
    const before = openSockets()
    const { dial, listen, transport } = rawTransport(defer)
    const { port, next } = await listen()
    const dialed = await dial(peer.addr)
    const client = await rawClient(defer, port)
    const accepted = await next()

    for (const socket of [client, await peer.next()]) {
      socket.on('end', () => { socket.end() }).resume()
    }

    await within(2_000, 'stop()', Promise.resolve(transport.stop?.()))
    expect([dialed.status, accepted.status]).to.not.include('open')
    await until(() => openSockets() <= before, 'no socket is left')
  })

  it('can be stopped and started again', async () => {
    const { addr } = await rawPeer(defer)
    const { dial, transport } = rawTransport(defer)

    await transport.start?.()
    await dial(addr)
    await transport.stop?.()
    await transport.start?.()
    await dial(addr)
    await transport.stop?.()
  })
})

/**
 * A logger that only keeps the names that something was logged under
 */
function recordNames (names: Set<string>): ComponentLogger {
  function logger (name: string): Logger {
    const log = (): void => { names.add(name) }

    return Object.assign(log, {
      enabled: true,
      error: log,
      trace: log,
      newScope: (scope: string) => logger(`${name}:${scope}`)
    }) as unknown as Logger
  }

  return { forComponent: logger }
}
