import { CODE_P2P } from '@multiformats/multiaddr'
import { expectIdentity } from '../presumed.ts'
import type { Multiaddr } from '@multiformats/multiaddr'

/** The addresses of one peer that one dial has */
export interface Siblings {
  /** The peer's id, as the multiaddrs have it */
  readonly peer: string
  readonly addresses: Multiaddr[]
}

/**
 * So many dials of copies in a row are libp2p's own. A program may ask libp2p whether it can dial some addresses, and call the
 * transport with one of them itself
 */
const MANY_COPIES = 3

/**
 * Finds out which addresses belong to one dial.
 *
 * libp2p's dial queue asks `dialFilter([address])` about every address of a dial, in one synchronous pass, and
 * dials those very objects later (`calculateMultiaddrs` and `dialPeer` in connection-manager/dial-queue.js).
 * Only addresses that were asked about in one turn of the microtask queue and that name the same peer belong together:
 * dials of several peers may run in one turn, but never two of the same peer, because the queue joins them. An address
 * without a peer id belongs to none, since nobody would notice a stranger there.
 *
 * The transport manager asks once more just before it dials, so {@link take} takes that question back.
 */
export class SiblingFinder {
  readonly #siblings = new WeakMap<Multiaddr, Siblings>()

  /** Those that were asked about in this turn */
  #asked: Multiaddr[] = []

  /** The last that were found, while no dial has shown that libp2p dials the objects that it asked about */
  #unproven?: Siblings

  /** How many dials of copies came before the first that showed it. `Infinity` from then on */
  #copies = 0

  /** libp2p asks whether we dial this address */
  ask (ma: Multiaddr): void {
    if (this.#asked.push(ma) === 1) {
      queueMicrotask(this.#close)
    }
  }

  /** The transport is to dial this address: which others does the dial have? */
  take (ma: Multiaddr): Siblings | undefined {
    if (this.#asked.at(-1) === ma) {
      this.#asked.pop()
    }

    const siblings = this.#siblings.get(ma)

    if (siblings != null) {
      this.#copies = Infinity
      this.#unproven = undefined
    } else if (this.#unproven?.addresses.some(asked => asked.equals(ma)) === true) {
      this.#copies++
      this.#unproven = undefined
      expectIdentity('multiaddr', this.#copies < MANY_COPIES)
    }

    return siblings
  }

  readonly #close = (): void => {
    const asked = this.#asked
    this.#asked = []

    if (asked.length > 1) {
      this.#group(asked)
    } else if (asked.length === 1) {
      // it may have been one of several in an earlier dial
      this.#siblings.delete(asked[0])
    }
  }

  #group (asked: Multiaddr[]): void {
    const peers = new Map<string, Siblings>()

    for (const ma of asked) {
      const peer = peerIdOf(ma)
      this.#siblings.delete(ma)

      if (peer == null) {
        continue
      }

      const siblings = peers.get(peer)

      if (siblings == null) {
        peers.set(peer, { peer, addresses: [ma] })
      } else {
        siblings.addresses.push(ma)
      }
    }

    for (const siblings of peers.values()) {
      if (siblings.addresses.length > 1) {
        siblings.addresses.forEach(ma => { this.#siblings.set(ma, siblings) })

        if (this.#copies < MANY_COPIES) {
          this.#unproven = siblings
        }
      }
    }
  }
}

function peerIdOf (ma: Multiaddr): string | undefined {
  return ma.getComponents().findLast(({ code }) => code === CODE_P2P)?.value
}
