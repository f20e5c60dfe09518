import net from 'node:net'
import { isGlobalUnicast, isPrivate } from '@libp2p/utils'
import { TCP } from '@multiformats/multiaddr-matcher'
import { Recent } from '../recent.ts'
import type { Connection } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** How many addresses are offered to a peer that punches a hole: as many as go-libp2p offers */
const MAX_OFFERED = 3

/** How long libp2p hears of no other address from a host, in ms */
const OPINION_LASTS = 60 * 60 * 1_000

/** Of how many hosts that is remembered. A new one replaces the one that was heard longest ago */
const MAX_HOSTS = 1_000

interface Observation {
  address: Multiaddr
  host: string
}

/**
 * The public addresses at which peers see our listening ports. What one host says is one opinion, however many
 * peers and connections it has.
 */
export class ObservedAddresses {
  /** By connection, the oldest first. An observation goes with its connection, and so with a network that we have left */
  readonly #observations = new Map<string, Observation>()

  /** Hosts from which libp2p heard of an address. It keeps ten addresses, and takes none instead of another */
  readonly #heard: Recent<true>

  constructor (now?: () => number) {
    this.#heard = new Recent(MAX_HOSTS, OPINION_LASTS, now)
  }

  /**
   * The first answer of a peer on a connection counts: the address of a connection does not change.
   * `ip` is the address of the peer's socket: a multiaddr may hold one of many names of it.
   *
   * @returns the address, if libp2p should hear of it: once an hour for each host, and if others may reach us at it
   */
  add (connection: Pick<Connection, 'id' | 'status'>, ip: string, observed: Multiaddr): Multiaddr | undefined {
    // the connection may have closed while libp2p handled the peer's message
    if (connection.status !== 'open' || this.#observations.has(connection.id) || !isPublicTCP(observed)) {
      return
    }

    const address = withoutPeer(observed)
    const host = hostOf(ip)

    this.#observations.set(connection.id, { address, host })

    return this.#mayBeHeard(host) ? address : undefined
  }

  delete (connection: Pick<Connection, 'id'>): void {
    this.#observations.delete(connection.id)
  }

  #mayBeHeard (host: string): boolean {
    if (this.#heard.get(host) === true) {
      return false
    }

    this.#heard.set(host, true)

    return true
  }

  /** The few that most hosts agree on. The oldest open connection of a host speaks for it */
  best (): Multiaddr[] {
    const heard = new Set<string>()
    const votes = new Map<string, { address: Multiaddr, count: number }>()

    for (const { address, host } of this.#observations.values()) {
      if (!heard.has(host)) {
        const key = address.toString()

        heard.add(host)
        votes.set(key, { address, count: (votes.get(key)?.count ?? 0) + 1 })
      }
    }

    return [...votes.values()]
      .sort((a, b) => b.count - a.count)
      .slice(0, MAX_OFFERED)
      .map(({ address }) => address)
  }
}

/** By transport, of those with the option `reusePort` */
export const observedOf = new WeakMap<object, ObservedAddresses>()

/** An IP address and a port, of the public internet and not of a relay */
function isPublicTCP (address: Multiaddr): boolean {
  // a peer may send an empty address
  const name = address.getComponents()[0]?.name

  return TCP.exactMatch(address) && (name === 'ip4' || (name === 'ip6' && isGlobalUnicast(address))) && !isPrivate(address)
}

/** js-libp2p sends the address with our peer id, others without */
function withoutPeer (address: Multiaddr): Multiaddr {
  const id = address.getComponents().findLast(({ name }) => name === 'p2p')?.value

  return id == null ? address : address.decapsulate(`/p2p/${id}`)
}

/** An IPv4 address, or the /64 of an IPv6 address: a host has as many addresses of that as it likes */
function hostOf (ip: string): string {
  const mapped = ip.replace(/^::ffff:/i, '')

  if (!net.isIPv6(mapped)) {
    return mapped
  }

  const [head, tail] = mapped.split('%')[0].split('::')
  const groups = head.split(':').filter(group => group !== '')
  const missing = tail == null ? 0 : 8 - groups.length - tail.split(':').filter(group => group !== '').length

  return [...groups, ...Array<string>(missing).fill('0'), ...(tail ?? '').split(':')].slice(0, 4).join(':')
}
