import net from 'node:net'
import os from 'node:os'
import type { Scope } from './rank.ts'
import type { Endpoint } from '../addresses.ts'
import type { NetworkInterfaceInfo } from 'node:os'

/** How long what the operating system says about our networks is believed, in ms: to ask takes 0.1 ms */
const MAX_AGE = 10_000

const LOOPBACK = listOf(['127.0.0.0', 8], ['::1', 128])

/** RFC 1918, 6598, 3927, 4193 and 4291. And multicast and what is reserved, where no TCP leads: that says nothing of a route to others */
const PRIVATE = listOf(['224.0.0.0', 3], ['ff00::', 8], ['10.0.0.0', 8], ['172.16.0.0', 12], ['192.168.0.0', 16], ['100.64.0.0', 10], ['169.254.0.0', 16], ['fc00::', 7], ['fe80::', 10])

interface Ours {
  networks: net.BlockList

  /** Of addresses that are not loopback ones */
  families: Set<number>
}

/**
 * Tells private addresses that may be in one of this host's networks from those that cannot be
 */
export class Networks {
  readonly #interfaces: () => NodeJS.Dict<NetworkInterfaceInfo[]>
  readonly #now: () => number
  #ours?: Ours
  #until = -Infinity

  constructor (interfaces: () => NodeJS.Dict<NetworkInterfaceInfo[]> = os.networkInterfaces, now: () => number = () => performance.now()) {
    this.#interfaces = interfaces
    this.#now = now
  }

  /** A name counts as public: it was made to be found */
  scopeOf (endpoint: Endpoint): Scope {
    if ('path' in endpoint) {
      return 'ours'
    }

    const [host] = endpoint.host.split('%')
    const version = net.isIP(host)

    if (version === 0) {
      return 'public'
    }

    const family = version === 6 ? 'ipv6' : 'ipv4'

    if (LOOPBACK.check(host, family)) {
      return 'loopback'
    }

    if (!PRIVATE.check(host, family)) {
      return 'public'
    }

    // where the operating system does not say, it may be ours
    return this.#read()?.networks.check(host, family) === false ? 'private' : 'ours'
  }

  /** Whether this host may have an address of the family beside loopback ones */
  has (family: 4 | 6): boolean {
    return this.#read()?.families.has(family) !== false
  }

  #read (): Ours | undefined {
    if (this.#now() >= this.#until) {
      this.#ours = this.#ask()
      this.#until = this.#now() + MAX_AGE
    }

    return this.#ours
  }

  /** Some systems do not allow it, as Android */
  #ask (): Ours | undefined {
    let interfaces: NodeJS.Dict<NetworkInterfaceInfo[]>

    try {
      interfaces = this.#interfaces()
    } catch {
      return
    }

    const cidrs = Object.values(interfaces)
      .flatMap(addresses => addresses ?? [])
      .flatMap(({ cidr }) => cidr == null ? [] : [cidr.split('/')])
      .map(([address, prefix]) => [address.split('%')[0], Number(prefix)] as const)

    return {
      networks: listOf(...cidrs),
      families: new Set(cidrs.map(([address]) => address).filter(address => !LOOPBACK.check(address, net.isIPv6(address) ? 'ipv6' : 'ipv4')).map(address => net.isIP(address)))
    }
  }
}

function listOf (...networks: Array<readonly [address: string, prefix: number]>): net.BlockList {
  const list = new net.BlockList()

  for (const [address, prefix] of networks) {
    list.addSubnet(address, prefix, net.isIPv6(address) ? 'ipv6' : 'ipv4')
  }

  return list
}
