import net from 'node:net'
import { Recent } from '../recent.ts'
import { Networks } from './scope.ts'
import type { AddressFacts } from './rank.ts'
import type { Endpoint } from '../addresses.ts'

/** How many peers and how many silent addresses are remembered, about 200 B each */
const SIZE = 1_000

/** How long a silent address is dialed last, in ms: routers and NATs restart, laptops move */
const SILENT_AGE = 10 * 60_000

/** How long no route to a family is believed, in ms. To find out again costs one failed system call */
const NO_ROUTE_AGE = 60_000

/** What the kernel says at once, before a packet has left, if this host does not speak the family */
const NO_ROUTE = ['ENETUNREACH', 'EAFNOSUPPORT']

/** ... or if it has no address of the family. It says so too when all ports are used */
const NO_ADDRESS = 'EADDRNOTAVAIL'

/**
 * What earlier dials have taught: where each peer was reached last, which addresses were silent, and
 * whether this host has a route to IPv6.
 */
export class Experience {
  /** By peer id: the address */
  readonly #worked: Recent<string>

  /** By address */
  readonly #silent: Recent<true>

  /** By IP version */
  readonly #unroutable: Recent<true>
  readonly #networks: Networks

  constructor (now?: () => number, networks = new Networks()) {
    this.#worked = new Recent(SIZE, Infinity, now)
    this.#silent = new Recent(SIZE, SILENT_AGE, now)
    this.#unroutable = new Recent(2, NO_ROUTE_AGE, now)
    this.#networks = networks
  }

  factsOf (peer: string, address: string, endpoint: Endpoint): AddressFacts {
    const family = familyOf(endpoint)
    const scope = this.#networks.scopeOf(endpoint)

    return {
      family,
      scope,
      worked: this.#worked.get(peer) === address,
      wasSilent: this.#silent.get(address) === true,
      // loopback needs no route
      isUnroutable: scope !== 'loopback' && this.#unroutable.get(`${family}`) === true
    }
  }

  reached (peer: string, address: string, endpoint: Endpoint): void {
    this.#worked.set(peer, address)
    this.#silent.delete(address)
    this.#unroutable.delete(`${familyOf(endpoint)}`)
  }

  wasSilent (peer: string, address: string): void {
    this.#silent.set(address, true)
    this.#forget(peer, address)
  }

  failed (peer: string, address: string, endpoint: Endpoint, err: Error & { code?: string }): void {
    const { code = '' } = err
    const family = familyOf(endpoint)

    this.#forget(peer, address)

    if (code === 'ETIMEDOUT') {
      this.#silent.set(address, true)
    } else if (family !== 0 && this.#networks.scopeOf(endpoint) === 'public' && (NO_ROUTE.includes(code) || (code === NO_ADDRESS && !this.#networks.has(family)))) {
      this.#unroutable.set(`${family}`, true)
    }
  }

  #forget (peer: string, address: string): void {
    if (this.#worked.get(peer) === address) {
      this.#worked.delete(peer)
    }
  }
}

function familyOf (endpoint: Endpoint): AddressFacts['family'] {
  if ('path' in endpoint) {
    return 0
  }

  return endpoint.family !== 0 ? endpoint.family : net.isIP(endpoint.host.split('%')[0]) as AddressFacts['family']
}
