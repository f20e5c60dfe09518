import { inspect } from 'node:util'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { placesFor } from '../../src/dial/look-ups.ts'
import { TCPConnectError } from '../../src/index.ts'
import { mergeDialOptions, mergeListenOptions } from '../../src/settings.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { freePort } from '../fixtures/free-port.ts'
import { hasLoopbackNetwork, hasSilence } from '../fixtures/machine.ts'
import { dialedPeer, rawClient, rawPeer } from '../fixtures/peers.ts'
import { passThrough, rawTransport } from '../fixtures/raw.ts'
import { itIf } from '../fixtures/skip.ts'
import { straceWorks, trace } from '../fixtures/strace.ts'
import { fullBacklog } from '../fixtures/workers.ts'
import type { TCPOptions } from '../../src/index.ts'

const skipped = straceWorks ? '' : ' (SKIPPED: strace is missing or not allowed)'

describe('options that are null', () => {
  const defer = cleanUpAfterEach()
  const nothing: any = null

  it('count as absent', async () => {
    const { dial, listen } = rawTransport(defer, {
      dialOpts: nothing,
      listenOpts: nothing,
      backlog: nothing,
      maxConnections: nothing,
      closeServerOnMaxConnections: nothing,
      inboundSocketInactivityTimeout: nothing,
      outboundSocketInactivityTimeout: nothing,
      closeTimeout: nothing,
      stalledWriteTimeout: nothing,
      optimistic: nothing
    })
    const { addr, next } = await listen()
    const conn = await dial(addr, { onProgress: nothing })

    conn.send(Uint8Array.of(1))
    await pEvent(await next(), 'message')
  })

  it('count as absent of one dial and of one listener', async () => {
    const none: any = { noDelay: null, keepAlive: null, keepAliveInitialDelay: null, allowHalfOpen: null, localAddress: null, localPort: null, lookup: null, timeout: null, ipv6Only: null }
    const { dial, listen } = rawTransport(defer, { dialOpts: { ...none }, listenOpts: { ...none } })
    const { addr, next } = await listen(undefined, none)

    await dial(addr, none)
    await next()
  })

  for (const merge of [mergeDialOptions, mergeListenOptions]) {
    it(`leave what is the default: ${merge.name}`, () => {
      const none: any = { noDelay: null, keepAlive: null, allowHalfOpen: null }

      expect(merge(none, none)).to.deep.equal({ noDelay: true, keepAlive: true, allowHalfOpen: false })
    })
  }
})

describe('options with an unusual value', () => {
  const defer = cleanUpAfterEach()
  const accepted: TCPOptions[] = [
    // as programs have it whose own limit is not set
    { maxConnections: Infinity, closeServerOnMaxConnections: { closeAbove: Infinity, listenBelow: Infinity } },
    { maxConnections: 12.5, closeServerOnMaxConnections: { closeAbove: 10.5, listenBelow: 0.8 } },
    { closeServerOnMaxConnections: { closeAbove: 5, listenBelow: 5, onListenError: undefined } },
    { inboundSocketInactivityTimeout: 0, outboundSocketInactivityTimeout: 0.5 },
    { inboundSocketInactivityTimeout: 2 ** 31 - 1, outboundSocketInactivityTimeout: 2 ** 31 - 1 },
    { backlog: 0 },
    { backlog: 1 },
    { dialOpts: {}, listenOpts: {} },
    { dialOpts: { keepAliveInitialDelay: 0, localPort: 0, hints: 0, family: 'IPv4' as any } },
    { dialOpts: { highWaterMark: 10_000, whatNodeMayKnow: 1 } as TCPOptions['dialOpts'], listenOpts: { highWaterMark: 10_000, exclusive: true } as TCPOptions['listenOpts'] }
  ]

  for (const init of accepted) {
    it(`are accepted: ${inspect(init, { breakLength: Infinity })}`, async () => {
      const { dial, listen } = rawTransport(defer, init)
      const { addr, next } = await listen()
      const conn = await dial(addr)

      conn.send(Uint8Array.of(1))
      await pEvent(await next(), 'message')
    })
  }
})

describe('fault 5: options of the dial', () => {
  const defer = cleanUpAfterEach()

  itIf(hasLoopbackNetwork, 'all of 127.0.0.0/8')('localAddress is where we dial from', async () => {
    const { socket } = await dialedPeer(defer, { dialOpts: { localAddress: '127.0.0.77' } })

    expect(socket).to.have.property('remoteAddress', '127.0.0.77')
  })

  it('localPort does not connect a socket to itself', async () => {
    const localPort = await freePort()
    const dialed = rawTransport(defer, { dialOpts: { localPort } }).dial(`/ip4/127.0.0.1/tcp/${localPort}`)

    await expect(dialed).to.eventually.be.rejectedWith(TCPConnectError, /itself/)
  })

  itIf(hasLoopbackNetwork, 'all of 127.0.0.0/8')('localPort is where we dial from', async () => {
    const localPort = await freePort()
    const { socket } = await dialedPeer(defer, { dialOpts: { localPort, localAddress: '127.0.0.78' } })

    expect(socket).to.have.property('remotePort', localPort)
  })

  itIf(hasLoopbackNetwork, 'all of 127.0.0.0/8')('what one dial says comes before what the transport says', async () => {
    const { addr, next } = await rawPeer(defer)
    await rawTransport(defer, { dialOpts: { localAddress: '127.0.0.77' } }).dial(addr, { localAddress: '127.0.0.79' })

    expect(await next()).to.have.property('remoteAddress', '127.0.0.79')
  })

  it('nothing overrides the host and port of the address', async () => {
    const { addr, next } = await rawPeer(defer)
    const trap = await rawPeer(defer)
    const target = { host: '127.0.0.1', port: trap.port, path: '/nowhere.sock' }

    await rawTransport(defer, { dialOpts: target as TCPOptions['dialOpts'] }).dial(addr)
    await next()
    await rawTransport(defer).dial(addr, target as object)
    await next()
  })

  it('nothing overrides the host and port to listen on', async () => {
    const trap = await rawPeer(defer)
    const target = { host: '127.0.0.1', port: trap.port, path: '/nowhere.sock' }

    const { port, next } = await rawTransport(defer, { listenOpts: target as TCPOptions['listenOpts'] }).listen()
    expect(port).to.not.equal(trap.port)
    await rawClient(defer, port)
    await next()
  })

  it('allowHalfOpen is honoured: what is sent long after the FIN of the peer arrives', async () => {
    const { conn, socket } = await dialedPeer(defer, { dialOpts: { allowHalfOpen: true } })

    socket.end()
    await pEvent(conn, 'remoteCloseWrite', { timeout: 5_000 })
    // time itself is what is waited for: the connection must stay writable while nothing happens
    await new Promise(resolve => setTimeout(resolve, 50))

    conn.send(Uint8Array.of(1, 2, 3))
    expect(await pEvent(socket, 'data', { timeout: 5_000 })).to.have.lengthOf(3)
    await conn.close()
  })

  itIf(hasSilence, 'a listener whose full queue is silent')('a timeout ends a dial', async () => {
    const port = await fullBacklog(defer)

    await expect(rawTransport(defer, { dialOpts: { timeout: 100 } }).dial(`/ip4/127.0.0.1/tcp/${port}`))
      .to.eventually.be.rejected.with.property('name', 'TimeoutError')
  })

  for (const timeout of [Infinity, 2 ** 31, 0]) {
    it(`a timeout of ${timeout} ms ends no dial`, async () => {
      const { port } = await rawPeer(defer)
      // the look-up takes longer than the 1 ms that Node makes of more than it can count
      const lookup: any = (host: string, options: object, callback: (...args: unknown[]) => void) => { setTimeout(callback, 50, undefined, [{ address: '127.0.0.1', family: 4 }]) }
      const maConn = await rawTransport(defer, { dialOpts: { timeout, lookup } }).dial(`/dns4/slow.test/tcp/${port}`)

      expect(maConn.status).to.equal('open')
    })
  }

  it('options are never written to', async () => {
    const dialOpts = Object.freeze({ keepAliveInitialDelay: 1_000 })
    const listenOpts = Object.freeze({ keepAliveInitialDelay: 2_000 })
    const closeServerOnMaxConnections = Object.freeze({ closeAbove: 10, listenBelow: 5 })
    const init = Object.freeze({ dialOpts, listenOpts, closeServerOnMaxConnections, maxConnections: 10 })
    const { transport } = rawTransport(defer, init)

    const listenerOptions = Object.freeze({ upgrader: passThrough() })
    const listener = transport.createListener(listenerOptions)
    defer(async () => listener.close())
    await listener.listen(multiaddr('/ip4/127.0.0.1/tcp/0'))

    const dialOptions = Object.freeze({ upgrader: passThrough(), signal: AbortSignal.timeout(5_000) })
    const conn = await transport.dial(listener.getAddrs()[0], dialOptions)
    await conn.close()

    expect(Object.keys(dialOpts)).to.deep.equal(['keepAliveInitialDelay'])
    expect(Object.keys(listenOpts)).to.deep.equal(['keepAliveInitialDelay'])
    expect(Object.keys(listenerOptions)).to.deep.equal(['upgrader'])
    expect(Object.keys(dialOptions)).to.deep.equal(['upgrader', 'signal'])
  })
})

/**
 * What the kernel was told about a socket
 */
interface SocketOptionCalls {
  noDelay: number[]
  keepAlive: number[]
  keepIdle: number[]
}

describe(`fault 5: options of the sockets, as the kernel has them${skipped}`, function () {
  this.timeout(60_000)

  const defer = cleanUpAfterEach()

  beforeEach(function () {
    if (!straceWorks) {
      this.skip()
    }
  })

  async function optionsOf (init: TCPOptions): Promise<Record<'dialed' | 'accepted', SocketOptionCalls>> {
    const child = await trace(defer, ['setsockopt'], 'connect-to-self.ts', [init])
    const port: number = await child.says()
    const calls = await child.calls()

    function values (side: RegExp, option: string): number[] {
      return calls
        .filter(call => side.test(call) && call.includes(option))
        .map(call => Number(/\[(\d+)\]/.exec(call)?.[1]))
    }

    function read (side: RegExp): SocketOptionCalls {
      return {
        noDelay: values(side, 'TCP_NODELAY'),
        keepAlive: values(side, 'SO_KEEPALIVE'),
        keepIdle: values(side, 'TCP_KEEPIDLE')
      }
    }

    return {
      // before it is connected, a socket has no name in the trace
      dialed: read(new RegExp(`->127\\.0\\.0\\.1:${port}\\]|<TCP:\\[\\d+\\]>`)),
      accepted: read(new RegExp(`\\[127\\.0\\.0\\.1:${port}->`))
    }
  }

  it('noDelay and keepAlive are on', async () => {
    const { dialed, accepted } = await optionsOf({})

    for (const { noDelay, keepAlive } of [dialed, accepted]) {
      expect(noDelay.at(-1)).to.equal(1)
      expect(keepAlive.at(-1)).to.equal(1)
    }
  })

  it('noDelay can be off', async () => {
    const { dialed, accepted } = await optionsOf({ dialOpts: { noDelay: false }, listenOpts: { noDelay: false } })

    expect(dialed.noDelay).to.not.include(1)
    expect(accepted.noDelay).to.not.include(1)
  })

  it('keepAlive can be off', async () => {
    const { dialed, accepted } = await optionsOf({ dialOpts: { keepAlive: false }, listenOpts: { keepAlive: false } })

    expect(dialed.keepAlive).to.not.include(1)
    expect(accepted.keepAlive).to.not.include(1)
  })

  it('keepAliveInitialDelay is in ms', async () => {
    const { dialed, accepted } = await optionsOf({
      dialOpts: { keepAliveInitialDelay: 7_000 },
      listenOpts: { keepAliveInitialDelay: 9_000 }
    })

    expect(dialed.keepIdle.at(-1)).to.equal(7)
    expect(accepted.keepIdle.at(-1)).to.equal(9)
  })
})

describe('options at the ends of their ranges', () => {
  const defer = cleanUpAfterEach()

  for (const side of ['dialOpts', 'listenOpts'] as const) {
    it(`${side}.highWaterMark of 0: what is sent leaves, and a close ends`, async () => {
      const { dial, listen } = rawTransport(defer, { [side]: { highWaterMark: 0 } })
      const { addr, next } = await listen()
      const dialed = await dial(addr)
      const accepted = await next()
      const [from, to] = side === 'dialOpts' ? [dialed, accepted] : [accepted, dialed]
      const received = pEvent(to, 'message', { timeout: 2_000 })

      from.send(Uint8Array.of(1))
      await received
      await from.onDrain({ signal: AbortSignal.timeout(2_000) })
      await from.close({ signal: AbortSignal.timeout(2_000) })
    })
  }

  itIf(hasLoopbackNetwork && hasSilence, 'all of 127.0.0.0/8, and silence')('autoSelectFamilyAttemptTimeout: no timer is too long', async () => {
    const port = await fullBacklog(defer)
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => { warnings.push(warning) }
    const { dial } = rawTransport(defer, {
      dialOpts: {
        autoSelectFamilyAttemptTimeout: 2 ** 31 - 1,
        lookup: (host: string, options: unknown, callback: any) => { callback(null, ['127.0.0.2', '127.0.0.1', '127.0.0.3'].map(address => ({ address, family: 4 }))) }
      }
    })

    process.on('warning', onWarning)
    defer(() => { process.off('warning', onWarning) })
    await expect(dial(`/dns4/silent.test/tcp/${port}`, { signal: AbortSignal.timeout(100) })).to.eventually.be.rejected()
    expect(warnings).to.be.empty()
  })

  it('UV_THREADPOOL_SIZE: look-ups have half of the threads, as libuv reads their number', () => {
    expect([undefined, '4', '16', '1', '0', '-1', 'auto', 'undefined', ''].map(placesFor)).to.deep.equal([2, 2, 8, 1, 1, 1, 1, 1, 1])
  })
})
