import { expect } from 'aegir/chai'
import { chooseLocalAddress, needsSource } from '../../src/nat/local-port.ts'
import type { ListeningAddress } from '../../src/nat/local-port.ts'

function on (host: string, port: number, ipv6Only = true): ListeningAddress {
  return { host, port, ipv6Only }
}

describe('the listening address that a dial leaves from', () => {
  const cases: Array<{ name: string, listening: ListeningAddress[], target: string, source?: string, expected?: string }> = [
    { name: 'is none without listeners', listening: [], target: '1.2.3.4' },
    { name: 'is a wildcard', listening: [on('0.0.0.0', 1)], target: '1.2.3.4', expected: '0.0.0.0:1' },
    { name: 'is a wildcard for a loopback target', listening: [on('0.0.0.0', 1)], target: '127.0.0.1', expected: '0.0.0.0:1' },
    { name: 'is a wildcard of the same family', listening: [on('0.0.0.0', 1), on('::', 2)], target: '2606::1', expected: ':::2' },
    { name: 'is not one of the other family', listening: [on('0.0.0.0', 1)], target: '2606::1' },
    { name: 'is not an IPv6 wildcard for IPv4', listening: [on('::', 1)], target: '1.2.3.4' },
    { name: 'is one of both families for IPv4', listening: [on('::', 1, false)], target: '1.2.3.4', expected: '0.0.0.0:1' },
    { name: 'is one of both families for IPv6', listening: [on('::', 1, false)], target: '2606::1', expected: ':::1' },
    { name: 'is no loopback address for a public target', listening: [on('127.0.0.1', 1)], target: '1.2.3.4' },
    { name: 'is no IPv6 loopback address for a public target', listening: [on('::1', 1)], target: '2606::1' },
    { name: 'is no loopback address for a private target', listening: [on('127.0.0.1', 1)], target: '192.168.1.1' },
    { name: 'is a loopback address for a loopback target', listening: [on('127.0.0.1', 1)], target: '127.0.0.9', expected: '127.0.0.1:1' },
    { name: 'is a loopback address before a wildcard', listening: [on('0.0.0.0', 1), on('127.0.0.1', 2)], target: '127.0.0.1', expected: '127.0.0.1:2' },
    { name: 'is the IPv6 loopback address', listening: [on('::', 1), on('::1', 2)], target: '::1', expected: '::1:2' },
    { name: 'is the source of the route', listening: [on('0.0.0.0', 1), on('10.0.0.1', 2), on('10.0.0.2', 3)], target: '1.2.3.4', source: '10.0.0.2', expected: '10.0.0.2:3' },
    { name: 'is not a specific one that is not the source', listening: [on('10.0.0.1', 2)], target: '1.2.3.4', source: '10.0.0.2' },
    { name: 'is a wildcard where the source is no listener', listening: [on('10.0.0.1', 2), on('0.0.0.0', 1)], target: '1.2.3.4', source: '10.0.0.9', expected: '0.0.0.0:1' },
    { name: 'is not a specific one where no route is known', listening: [on('10.0.0.1', 2)], target: '1.2.3.4' },
    { name: 'is the one that has listened longest', listening: [on('0.0.0.0', 7), on('0.0.0.0', 3)], target: '1.2.3.4', expected: '0.0.0.0:7' },
    { name: 'is none for IPv4 in IPv6', listening: [on('::', 1), on('0.0.0.0', 2)], target: '::ffff:1.2.3.4' },
    { name: 'is a wildcard for an address with a zone', listening: [on('::', 1)], target: 'fe80::1%eth0', expected: ':::1' },
    { name: 'is none for a name', listening: [on('0.0.0.0', 1)], target: 'example.com' }
  ]

  for (const { name, listening, target, source, expected } of cases) {
    it(name, () => {
      const chosen = chooseLocalAddress(listening, target, source)

      expect(chosen == null ? undefined : `${chosen.host}:${chosen.port}`).to.equal(expected)
    })
  }

  it('depends on the route only where a listener has a specific address of the family', () => {
    expect(needsSource([on('0.0.0.0', 1), on('127.0.0.1', 2), on('fd00::1', 3)], '1.2.3.4')).to.be.false()
    expect(needsSource([on('0.0.0.0', 1), on('10.0.0.1', 2)], '1.2.3.4')).to.be.true()
    expect(needsSource([on('fd00::1', 3)], '2606::1')).to.be.true()
  })
})
