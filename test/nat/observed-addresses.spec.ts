import { TypedEventEmitter } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import { reusePort } from '../../src/nat/index.ts'
import { ObservedAddresses } from '../../src/nat/observed-addresses.ts'
import { canReusePort } from '../fixtures/can-reuse-port.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawPeer } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { skipUnless } from '../fixtures/skip.ts'
import type { RawTransport } from '../fixtures/raw.ts'
import type { ConnectionStatus } from '@libp2p/interface'

type Seen = [Parameters<ObservedAddresses['add']>[0], string]

const PUBLIC = '/ip4/45.0.1.2/tcp/4001'
const HOUR = 60 * 60 * 1_000

function seenBy (id: string, host = '46.0.0.1', status: ConnectionStatus = 'open'): Seen {
  return [{ id, status }, host]
}

describe('addresses that peers observe', () => {
  for (const address of [PUBLIC, `${PUBLIC}/p2p/12D3KooWA9R9nipiFHbWPj4Gy8XSnMwPARQALyp2T6orzTsmUqZG`, '/ip6/2606::1/tcp/4001']) {
    it(`are kept if they are public: ${address}`, () => {
      const observed = new ObservedAddresses()

      expect(observed.add(...seenBy('1'), multiaddr(address))?.toString()).to.equal(address.replace(/\/p2p.*/, ''))
      expect(observed.best().map(String)).to.deep.equal([address.replace(/\/p2p.*/, '')])
    })
  }

  for (const address of [
    '/ip4/10.0.0.1/tcp/1', '/ip4/192.168.1.1/tcp/1', '/ip4/127.0.0.1/tcp/1', '/ip4/169.254.0.1/tcp/1', '/ip4/100.64.0.1/tcp/1', '/ip4/0.0.0.0/tcp/1',
    '/ip6/::1/tcp/1', '/ip6/fe80::1/tcp/1', '/ip6/fd00::1/tcp/1', '/ip6/::ffff:45.0.1.2/tcp/1', '/ip6zone/eth0/ip6/fe80::1/tcp/1',
    '/dns4/example.com/tcp/1', '/ip4/45.0.1.2/udp/1/quic-v1', '/ip4/45.0.1.2/tcp/1/ws', '/unix/x',
    '/ip4/45.0.1.2/tcp/1/p2p/12D3KooWA9R9nipiFHbWPj4Gy8XSnMwPARQALyp2T6orzTsmUqZG/p2p-circuit'
  ]) {
    it(`are not kept otherwise: ${address}`, () => {
      const observed = new ObservedAddresses()

      expect(observed.add(...seenBy('1'), multiaddr(address))).to.equal(undefined)
      expect(observed.best()).to.be.empty()
    })
  }

  it('may be empty, which is none', () => {
    expect(new ObservedAddresses().add(...seenBy('1'), multiaddr(new Uint8Array(0)))).to.equal(undefined)
  })

  it('are not kept where the connection has closed meanwhile', () => {
    const observed = new ObservedAddresses()

    expect(observed.add(...seenBy('1', '46.0.0.1', 'closed'), multiaddr(PUBLIC))).to.equal(undefined)
    expect(observed.best()).to.be.empty()
  })

  it('are one for a connection and one for a host: nobody floods the address manager', () => {
    const observed = new ObservedAddresses()
    const told = Array.from({ length: 20 }, (_, i) => [observed.add(...seenBy('1'), multiaddr(`/ip4/45.0.1.${i + 1}/tcp/1`)), observed.add(...seenBy(`${i + 2}`), multiaddr(`/ip4/45.0.2.${i + 1}/tcp/1`))])

    expect(told.flat().filter(address => address != null).map(String)).to.deep.equal(['/ip4/45.0.1.1/tcp/1'])
  })

  for (const [name, hosts, opinions] of [
    ['an IPv4 host', ['46.0.0.1', '::ffff:46.0.0.1'], 1],
    ['an IPv6 host, which has a /64,', ['2606::1', '2606::2', '2606:0:0:0:ffff::', '2606:0:0:0:1:2:3:4'], 1],
    ['each of two IPv4 hosts', ['46.0.0.1', '46.0.0.2'], 2],
    ['each of two IPv6 networks', ['2606::1', '2606:0:0:1::1', '2606:0:0:1:2:3:4:5%eth0'], 2]
  ] as Array<[string, string[], number]>) {
    it(`are told to libp2p once an hour for ${name} however many peers it has, one after another`, () => {
      let now = 0
      const observed = new ObservedAddresses(() => now)
      const tellAll = (): number => Array.from({ length: 20 }, (_, i) => {
        const [connection, host] = seenBy(`${i}`, hosts[i % hosts.length])
        const told = observed.add(connection, host, multiaddr(`/ip4/45.0.${i}.2/tcp/4001`))

        observed.delete(connection)

        return told
      }).filter(address => address != null).length

      expect(tellAll()).to.equal(opinions)
      now += HOUR - 1
      expect(tellAll()).to.equal(0)
      now += 1
      expect(tellAll()).to.equal(opinions)
    })
  }

  it('are remembered of 1,000 hosts: a flood of them costs no memory', () => {
    const observed = new ObservedAddresses()
    const tell = (i: number): unknown => {
      const [connection, host] = seenBy(`${i}`, `46.0.${i >> 8}.${i & 255}`)
      const told = observed.add(connection, host, multiaddr(PUBLIC))

      observed.delete(connection)

      return told
    }

    for (let i = 0; i < 1_001; i++) {
      expect(tell(i)).to.not.equal(undefined)
    }

    expect(tell(1_000)).to.equal(undefined)
    expect(tell(1)).to.equal(undefined)
    expect(tell(0)).to.not.equal(undefined)
  })

  it('are offered by the oldest connection of each host, and by the next one when that closes', () => {
    const observed = new ObservedAddresses()
    observed.add(...seenBy('1'), multiaddr(PUBLIC))

    for (let i = 2; i < 20; i++) {
      observed.add(...seenBy(`${i}`), multiaddr(`/ip4/45.0.2.${i}/tcp/1`))
    }

    expect(observed.best().map(String)).to.deep.equal([PUBLIC])
    observed.delete({ id: '1' })
    expect(observed.best().map(String)).to.deep.equal(['/ip4/45.0.2.2/tcp/1'])
  })

  it('are those that most hosts see, and three at most', () => {
    const observed = new ObservedAddresses()
    const add = (id: number, host: string, port: number): void => { observed.add(...seenBy(`${id}`, host), multiaddr(`/ip4/45.0.1.2/tcp/${port}`)) }

    // one host that says it five times is one host
    for (let i = 0; i < 5; i++) {
      add(i, '46.0.0.1', 1)
    }

    // and what it says on later connections does not count
    add(10, '46.0.0.1', 4)
    add(11, '46.0.0.2', 2)
    add(12, '46.0.0.3', 2)
    add(13, '46.0.0.4', 2)
    add(14, '46.0.0.5', 3)
    add(15, '46.0.0.6', 3)

    expect(observed.best().map(ma => ma.toString().split('/').pop())).to.deep.equal(['2', '3', '1'])
  })

  it('are gone with their connection', () => {
    const observed = new ObservedAddresses()
    observed.add(...seenBy('1'), multiaddr(PUBLIC))
    observed.delete({ id: '1' })

    expect(observed.best()).to.be.empty()
  })
})

describe('a transport with reusePort', () => {
  const defer = cleanUpAfterEach()

  skipUnless(canReusePort)

  interface Observing extends RawTransport {
    added: string[]
    identify(maConn: any, observedAddr?: string, id?: string): void
    close(id: string): void
  }

  function observing (isReused = true): Observing {
    const added: string[] = []
    const events = new TypedEventEmitter<any>()
    const transport = rawTransport(defer, { reusePort: isReused ? reusePort() : undefined }, { events, addressManager: { addObservedAddr: ma => { added.push(ma.toString()) } } })

    return {
      ...transport,
      added,
      close (id) {
        events.safeDispatchEvent('connection:close', { detail: { id } })
      },
      identify (maConn, observedAddr, id = '1') {
        events.safeDispatchEvent('peer:identify', {
          detail: { connection: { id, status: 'open', remoteAddr: maConn.remoteAddr, timeline: maConn.timeline }, observedAddr: observedAddr == null ? undefined : multiaddr(observedAddr) }
        })
      }
    }
  }

  it('hands on what is observed of a connection that left from a listening port', async () => {
    const { addr } = await rawPeer(defer)
    const { added, dial, identify, listen } = observing()
    await listen()
    const maConn = await dial(addr)

    identify(maConn, PUBLIC)
    identify(maConn, '/ip4/192.168.1.1/tcp/4001')
    identify(maConn)
    expect(added).to.deep.equal([PUBLIC])
  })

  for (const host of ['ip4/127.0.0.1', 'dns4/localhost']) {
    it(`hands on one address of a host at /${host} whose ten peers each name another one and close`, async () => {
      const { added, close, dial, identify, listen } = observing()
      await listen()

      for (let i = 0; i < 10; i++) {
        const { port } = await rawPeer(defer)
        const maConn = await dial(`/${host}/tcp/${port}`)

        identify(maConn, `/ip4/45.0.${i}.2/tcp/4001`, `${i}`)
        maConn.abort(new Error('The peer goes, and comes with another id'))
        close(`${i}`)
      }

      expect(added).to.deep.equal(['/ip4/45.0.0.2/tcp/4001'])
    })
  }

  it('hands on nothing of a connection from another port', async () => {
    const { addr } = await rawPeer(defer)
    const { added, dial, identify, listen } = observing()
    identify(await dial(addr), PUBLIC)
    await listen()
    identify(await dial(addr, { reusePort: false }), PUBLIC)
    await dial(addr)
    // the first one from the listening port is live
    identify(await dial(addr), PUBLIC)

    expect(added).to.be.empty()
  })

  it('hands on nothing of a connection that it accepted', async () => {
    const { added, dial, identify, listen } = observing()
    const { addr, next } = await listen()
    await dial(addr)
    identify(await next(), PUBLIC)

    expect(added).to.be.empty()
  })

  it('hands on nothing without the option', async () => {
    const { addr } = await rawPeer(defer)
    const { added, dial, identify, listen } = observing(false)
    await listen()
    identify(await dial(addr), PUBLIC)

    expect(added).to.be.empty()
  })
})
