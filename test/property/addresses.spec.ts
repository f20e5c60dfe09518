import { isIPv6 } from 'node:net'
import { multiaddr } from '@multiformats/multiaddr'
import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { endpointName, isSupported, isUnix, remoteMultiaddr, toEndpoint } from '../../src/addresses.ts'
import { check, seed } from './fixtures/check.ts'
import type { Endpoint } from '../../src/addresses.ts'
import type { Multiaddr } from '@multiformats/multiaddr'

const PEER_ID = '12D3KooWCCSMskW88GTUBTYFvtDEuTaBN9oiFvs5LRDHVBRVkcGX'

const TYPED = ['InvalidParametersError', 'InvalidMultiaddrError']

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).filter(value => !value.includes('/'))
const ports = fc.nat(65_535)
const zones = fc.oneof(fc.stringMatching(/^[a-z]{2,6}\d{0,2}$/), fc.nat(64).map(String))
const paths = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).map(path => `/${path}`)

const hosts = fc.oneof(
  fc.ipV4().map(ip => `/ip4/${ip}`),
  fc.ipV6().map(ip => `/ip6/${ip}`),
  fc.tuple(zones, fc.ipV6()).map(([zone, ip]) => `/ip6zone/${zone}/ip6/${ip}`),
  fc.tuple(fc.constantFrom('dns', 'dns4', 'dns6', 'dnsaddr'), fc.oneof(fc.domain(), text)).map(([kind, name]) => `/${kind}/${name}`)
)

const components = fc.oneof(
  hosts,
  ports.map(port => `/tcp/${port}`),
  ports.map(port => `/udp/${port}`),
  fc.nat(128).map(bits => `/ipcidr/${bits}`),
  zones.map(zone => `/ip6zone/${zone}`),
  paths.map(path => `/unix/${encodeURIComponent(path)}`),
  text.map(path => `/unix/${path}`),
  fc.domain().map(name => `/sni/${name}`),
  text.map(path => `/http-path/${encodeURIComponent(path)}`),
  text.map(name => `/memory/${name}`),
  fc.constantFrom(`/p2p/${PEER_ID}`, '/p2p-circuit', '/ws', '/wss', '/tls', '/noise', '/quic', '/quic-v1', '/webtransport', '/webrtc', '/webrtc-direct', '/http', '/https')
)

/** Everything that the multiaddr library takes */
const multiaddrs: fc.Arbitrary<Multiaddr> = fc.oneof(
  fc.tuple(hosts, fc.constantFrom('', '/ipcidr/8'), ports, fc.constantFrom('', `/p2p/${PEER_ID}`)).map(([host, range, port, peer]) => `${host}${range}/tcp/${port}${peer}`),
  fc.array(components, { maxLength: 6 }).map(parts => parts.join(''))
).map(parse).filter(ma => ma != null)

describe(`properties of the addresses (seed ${seed})`, () => {
  it('every multiaddr has an endpoint or a typed error, and those that are supported have one', () => {
    check(fc.property(multiaddrs, ma => {
      const supported = isSupported(ma)
      let endpoint: Endpoint | undefined

      try {
        endpoint = toEndpoint(ma)
      } catch (err: any) {
        expect(err.name, `${ma}: ${err.message}`).to.be.oneOf(TYPED)
      }

      if (supported) {
        expect(endpoint, `${ma}`).to.not.equal(undefined)
        expect('path' in (endpoint ?? {}), `${ma}`).to.equal(isUnix(ma))
      }

      if (endpoint != null && !('path' in endpoint)) {
        expect(ma.getComponents().some(({ name }) => name === 'tcp'), `${ma}`).to.be.true()
      }

      if (endpoint != null) {
        expect(endpointName(endpoint)).to.be.a('string').that.is.not.empty()
      }
    }))
  })

  it('a host, a port and a family come out as they went in', () => {
    check(fc.property(hosts, ports, fc.boolean(), (host, port, hasPeer) => {
      const ma = parse(`${host}/tcp/${port}${hasPeer ? `/p2p/${PEER_ID}` : ''}`)
      fc.pre(ma != null && !host.startsWith('/dnsaddr'))

      const { zone, ip4, ip6, dns, dns4, dns6 } = Object.fromEntries(ma.getComponents().map(({ name, value }) => [name === 'ip6zone' ? 'zone' : name, value]))

      expect(toEndpoint(ma), `${ma}`).to.deep.equal({
        host: zone == null ? ip4 ?? ip6 ?? dns ?? dns4 ?? dns6 : `${ip6}%${zone}`,
        port,
        family: family(host)
      })
    }))
  })

  it('a path comes out as it went in', () => {
    check(fc.property(paths, path => {
      expect(toEndpoint(multiaddr(`/unix/${encodeURIComponent(path)}`))).to.deep.equal({ path })
    }))
  })

  it('the address of a peer leads back to it', () => {
    check(fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), ports, fc.option(zones), (ip, remotePort, zone) => {
      const isZoned = isIPv6(ip) && zone != null
      const remoteAddress = isZoned ? `${ip}%${zone}` : ip
      const ma = remoteMultiaddr({ remoteAddress, remotePort })
      fc.pre(ma != null)

      const { host, port } = toEndpoint(ma) as { host: string, port: number }

      expect(isSupported(ma), `${ma}`).to.be.true()
      expect(port).to.equal(remotePort)
      expect(host.split('%')[1] ?? null).to.equal(isZoned ? zone : null)
      expect(canonical(host.split('%')[0])).to.equal(canonical(ip))
    }))
  })
})

function family (host: string): number {
  if (host.startsWith('/dns/')) {
    return 0
  }

  return /^.(ip|dns)4/.test(host) ? 4 : 6
}

/** The one way to write an address that has many */
function canonical (ip: string): string {
  return isIPv6(ip) ? new URL(`http://[${ip}]`).hostname : ip
}

function parse (text: string): Multiaddr | undefined {
  try {
    return multiaddr(text)
  } catch {
    // there are many ways to write what is none
  }
}
