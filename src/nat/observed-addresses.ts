import { isGlobalUnicast, isPrivate } from '@libp2p/utils'
import { TCP } from '@multiformats/multiaddr-matcher'
import type { Connection } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** How many addresses are offered to a peer that punches a hole: as many as go-libp2p offers */
const MAX_OFFERED = 3

/** Where a transport keeps the observed addresses of its listening ports */
export const observedAddresses: unique symbol = Symbol.for('libp2p-fast-tcp/observed-addresses')

/** A transport that may dial from the port that it listens on */
export interface ObservingTransport {
  readonly [observedAddresses]?: ObservedAddresses
}

interface Observation {
  address: Multiaddr
  observer: string
}

/**
 * The public addresses at which peers see our listening ports. An observation counts for as long
 * as the connection that it was made on: there are never more than connections, and
 * those from before a change of network go with them.
 */
export class ObservedAddresses {
  /** By connection: identify runs more than once on some */
  readonly #observations = new Map<string, Observation>()

  /**
   * The first answer of a peer on a connection counts: the address of a connection does not change.
   *
   * @returns the address, if others may reach us at it, and if the peer's host did not name
   * another one on another connection
   */
  add (connection: Pick<Connection, 'id' | 'remoteAddr' | 'status'>, observed: Multiaddr): Multiaddr | undefined {
    // the connection may have closed while libp2p handled the peer's message
    if (connection.status !== 'open' || this.#observations.has(connection.id) || !isPublicTCP(observed)) {
      return
    }

    const address = withoutPeer(observed)
    const observer = hostOf(connection.remoteAddr)
    const contradicts = [...this.#observations.values()].some(other => other.observer === observer && !other.address.equals(address))

    this.#observations.set(connection.id, { address, observer })

    return contradicts ? undefined : address
  }

  delete (connection: Pick<Connection, 'id'>): void {
    this.#observations.delete(connection.id)
  }

  /** The few that most hosts agree on */
  best (): Multiaddr[] {
    const observers = new Map<string, { address: Multiaddr, hosts: Set<string> }>()

    for (const { address, observer } of this.#observations.values()) {
      const key = address.toString()
      const entry = observers.get(key) ?? { address, hosts: new Set() }

      entry.hosts.add(observer)
      observers.set(key, entry)
    }

    return [...observers.values()]
      .sort((a, b) => b.hosts.size - a.hosts.size)
      .slice(0, MAX_OFFERED)
      .map(({ address }) => address)
  }
}

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

/** What one host says on many connections is one opinion */
function hostOf (address: Multiaddr): string {
  return address.getComponents()[0].value ?? ''
}
