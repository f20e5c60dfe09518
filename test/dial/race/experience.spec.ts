import net from 'node:net'
import { expect } from 'aegir/chai'
import { Experience } from '../../../src/dial/experience.ts'
import { Networks } from '../../../src/dial/scope.ts'
import { Recent } from '../../../src/recent.ts'
import type { HostEndpoint } from '../../../src/addresses.ts'

const MINUTE = 60_000

function host (host: string): HostEndpoint {
  return { host, port: 4001, family: net.isIP(host.split('%')[0]) as HostEndpoint['family'] }
}

const interfaces = (): any => ({
  lo: [{ cidr: '127.0.0.1/8' }, { cidr: '::1/128' }],
  eth0: [{ cidr: '192.168.7.9/24' }, { cidr: 'fd00:7::9/64' }, { cidr: 'fe80::9/64' }],
  odd: undefined,
  tun: [{ cidr: null }]
})

describe('where an address lies', () => {
  const networks = new Networks(interfaces)
  const SCOPES: Record<string, string> = {
    '45.0.0.1': 'public',
    '2a00::1': 'public',
    '127.0.0.9': 'loopback',
    '::1': 'loopback',
    '192.168.7.200': 'ours',
    '192.168.8.200': 'private',
    '10.0.0.1': 'private',
    '172.31.255.1': 'private',
    '172.32.0.1': 'public',
    '100.64.0.1': 'private',
    '169.254.1.1': 'private',
    'fd00:7::1': 'ours',
    'fd00:8::1': 'private',
    'fe80::1%eth0': 'ours',
    'example.com': 'public'
  }

  for (const [address, scope] of Object.entries(SCOPES)) {
    it(`is ${scope} for ${address}`, () => {
      expect(networks.scopeOf(host(address))).to.equal(scope)
    })
  }

  it('is ours for a unix socket', () => {
    expect(networks.scopeOf({ path: '/tmp/socket' })).to.equal('ours')
  })

  it('may be ours for a private address if the operating system does not say', () => {
    const networks = new Networks(() => { throw new Error('EACCES') })

    expect(networks.scopeOf(host('10.0.0.1'))).to.equal('ours')
    expect(networks.scopeOf(host('45.0.0.1'))).to.equal('public')
  })

  it('is read again from the operating system after a while only', () => {
    let reads = 0
    let now = 0
    const networks = new Networks(() => {
      reads++

      return interfaces()
    }, () => now)

    networks.scopeOf(host('10.0.0.1'))
    networks.scopeOf(host('10.0.0.2'))
    networks.scopeOf(host('45.0.0.1'))
    expect(reads).to.equal(1)

    now = 10_000
    networks.scopeOf(host('10.0.0.1'))
    expect(reads).to.equal(2)
  })
})

describe('what earlier dials have taught', () => {
  let now: number
  let experience: Experience

  beforeEach(() => {
    now = 0
    experience = new Experience(() => now, new Networks(interfaces))
  })

  const facts = (address: string, peer = 'peer'): ReturnType<Experience['factsOf']> => experience.factsOf(peer, address, host(address))
  const failed = (address: string, code: string): void => { experience.failed('peer', address, host(address), Object.assign(new Error(code), { code })) }

  it('is nothing at first', () => {
    expect(facts('45.0.0.1')).to.deep.equal({ family: 4, scope: 'public', worked: false, wasSilent: false, isUnroutable: false })
  })

  it('is where a peer was reached last, and no other peer', () => {
    experience.reached('peer', '45.0.0.1', host('45.0.0.1'))
    expect(facts('45.0.0.1').worked).to.equal(true)
    expect(facts('45.0.0.1', 'other').worked).to.equal(false)

    experience.reached('peer', '45.0.0.2', host('45.0.0.2'))
    expect(facts('45.0.0.1').worked).to.equal(false)
    expect(facts('45.0.0.2').worked).to.equal(true)
  })

  it('is forgotten when the peer is no longer there', () => {
    experience.reached('peer', '45.0.0.1', host('45.0.0.1'))
    failed('45.0.0.1', 'ECONNREFUSED')

    expect(facts('45.0.0.1').worked).to.equal(false)
    expect(facts('45.0.0.1').wasSilent).to.equal(false)
  })

  it('is which addresses were silent, for ten minutes or until they answer', () => {
    experience.wasSilent('peer', '45.0.0.1')
    failed('45.0.0.2', 'ETIMEDOUT')
    now = 10 * MINUTE - 1
    expect(facts('45.0.0.1').wasSilent).to.equal(true)
    expect(facts('45.0.0.2').wasSilent).to.equal(true)

    experience.reached('peer', '45.0.0.2', host('45.0.0.2'))
    expect(facts('45.0.0.2').wasSilent).to.equal(false)

    now = 10 * MINUTE
    expect(facts('45.0.0.1').wasSilent).to.equal(false)
  })

  it('is that there is no route to IPv6, for a minute or until there is', () => {
    failed('2a00::1', 'ENETUNREACH')
    expect(facts('2a00::2').isUnroutable).to.equal(true)
    expect(facts('::1').isUnroutable).to.equal(false)
    expect(facts('45.0.0.1').isUnroutable).to.equal(false)

    experience.reached('other', '2a00::3', host('2a00::3'))
    expect(facts('2a00::2').isUnroutable).to.equal(false)

    failed('2a00::1', 'ENETUNREACH')
    now = MINUTE
    expect(facts('2a00::2').isUnroutable).to.equal(false)
  })

  it('is that this host has no address of a family, but not that all of its ports are used', () => {
    experience = new Experience(() => now, new Networks(() => ({ lo: interfaces().lo, eth0: [{ cidr: '192.168.7.9/24' }] }) as any))
    failed('2a00::1', 'EADDRNOTAVAIL')
    failed('45.0.0.1', 'EADDRNOTAVAIL')

    expect(facts('2a00::2').isUnroutable).to.equal(true)
    expect(facts('45.0.0.2').isUnroutable).to.equal(false)
  })

  it('is nothing about routes if an address in nobody\'s reach has none', () => {
    failed('fd00:8::1', 'ENETUNREACH')
    failed('2a00::1', 'EHOSTUNREACH')
    failed('ff02::1', 'ENETUNREACH')
    failed('224.0.0.1', 'ENETUNREACH')
    failed('a.name', 'ENETUNREACH')

    for (const address of ['2a00::2', '45.0.0.1', 'b.name']) {
      expect(facts(address).isUnroutable).to.equal(false)
    }
  })
})

describe('what is remembered of dials', () => {
  it('is forgotten after a while, from the last time that it was noted', () => {
    let now = 0
    const recent = new Recent<number>(3, 60, () => now)
    recent.set('a', 1)
    now = 59
    recent.set('a', 2)
    now = 60
    expect(recent.get('a')).to.equal(2)
    expect(recent.get('b')).to.equal(undefined)

    now = 119
    expect(recent.get('a')).to.equal(undefined)
    expect(recent.size).to.equal(0)
  })

  it('is bounded: what is newest replaces what was noted longest ago', () => {
    const recent = new Recent<number>(3, Infinity)

    for (const key of ['a', 'b', 'c', 'a', 'd']) {
      recent.set(key, 1)
    }

    expect(recent.size).to.equal(3)
    expect(recent.get('b')).to.equal(undefined)
    expect(recent.get('a')).to.equal(1)
  })
})
