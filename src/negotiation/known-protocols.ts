import { firstOf, withName } from './protocol-names.ts'
import type { Libp2pEvents, Logger, PeerId, PeerStore, PeerUpdate, Stream, StreamMuxer, TypedEventTarget } from '@libp2p/interface'

export interface KnownProtocolsComponents {
  peerStore: PeerStore
  events: TypedEventTarget<Libp2pEvents>
}

/** How many peers are remembered that we have no connection to; the one that left longest ago makes room */
const MAX_ABSENT = 1_000

interface KnownPeer {
  connections: number

  /** Undefined as long as nothing was heard */
  spoken?: Set<string>
}

/**
 * Knows which protocols the peer at the other end of a muxer speaks: those that it
 * named itself (identify), and those that were negotiated on a stream that we opened.
 *
 * The peer store does not tell: libp2p lists there what the peer has opened streams
 * for, too, and a client of a protocol need not serve it.
 *
 * A muxer does not know whose it is. libp2p tells when it opens a connection,
 * whose list of streams is the muxer's.
 */
export class KnownProtocols {
  readonly #components: KnownProtocolsComponents
  readonly #log: Logger
  readonly #peers = new WeakMap<object, PeerId>()

  readonly #known = new Map<string, KnownPeer>()

  /** Those of these peers that we have no connection to, in the order in which they left */
  readonly #absent = new Set<string>()

  /** By list of streams: ours whose protocol is being negotiated, or was since somebody asked */
  readonly #watched = new WeakMap<object, Set<Stream>>()

  /** By list of streams: what was not answered as known protocols are, so that it must not be presumed again there */
  readonly #doubted = new WeakMap<object, Set<string>>()

  /** Reading and replacing what the peer store lists are two steps: one revocation after the other */
  #revoking: Promise<void> = Promise.resolve()

  constructor (components: KnownProtocolsComponents, log: Logger) {
    this.#components = components
    this.#log = log

    components.events.addEventListener('connection:open', event => {
      const { streams, remotePeer, status } = event.detail

      if (status === 'open') {
        this.#peers.set(streams, remotePeer)
        this.#arrive(remotePeer.toString())
      }
    })
    components.events.addEventListener('peer:identify', event => {
      const { peerId, protocols } = event.detail

      // a message that names none has something else to tell
      if (protocols.length > 0) {
        this.#learn(peerId, () => firstOf(protocols))
      }
    })
    // there is no 'peer:disconnect' for those that are connected when the node stops
    components.events.addEventListener('connection:close', event => {
      const { streams, remotePeer } = event.detail

      if (this.#peers.has(streams)) {
        this.#leave(remotePeer.toString())
      }
    })
  }

  has (muxer: StreamMuxer, protocol: string): boolean {
    this.#watched.get(muxer.streams)?.forEach(stream => { this.#look(muxer, stream) })

    const peer = this.#peers.get(muxer.streams)

    return peer != null &&
      this.#known.get(peer.toString())?.spoken?.has(protocol) === true &&
      this.#doubted.get(muxer.streams)?.has(protocol) !== true
  }

  /** The peer has agreed to the protocol on a stream of ours */
  add (muxer: StreamMuxer, protocol: string): void {
    const peer = this.#peers.get(muxer.streams)

    if (peer != null) {
      this.#learn(peer, spoken => withName(spoken, protocol))
    }
  }

  /** A stream of ours is about to be negotiated in full */
  watch (muxer: StreamMuxer, stream: Stream): void {
    const watched = this.#watched.get(muxer.streams) ?? new Set()

    watched.add(stream)
    this.#watched.set(muxer.streams, watched)
    stream.addEventListener('close', () => {
      this.#look(muxer, stream)
      watched.delete(stream)
    }, { once: true })
  }

  /** Presume the protocol no more on this connection */
  doubt (muxer: StreamMuxer, protocol: string): void {
    const doubted = this.#doubted.get(muxer.streams) ?? new Set()

    doubted.add(protocol)
    this.#doubted.set(muxer.streams, doubted)
  }

  /**
   * The peer said that it does not speak the protocol: presume it no more. libp2p has
   * put it in the peer store, believing that it was negotiated: take it out again,
   * unless it was there before, which negotiation in full would leave as it is.
   */
  revoke (muxer: StreamMuxer, protocol: string, wasStored: Promise<boolean> = Promise.resolve(true)): void {
    const peer = this.#peers.get(muxer.streams)

    this.doubt(muxer, protocol)

    if (peer == null) {
      return
    }

    this.#known.get(peer.toString())?.spoken?.delete(protocol)
    this.#revoking = Promise.all([wasStored, this.#revoking])
      .then(async ([wasStored]) => wasStored ? undefined : this.#remove(peer, protocol))
      .catch(err => {
        this.#log.error('could not take %s out of the peer store for %p - %e', protocol, peer, err)
      })
  }

  /** Whether the peer store lists the protocol for the peer */
  async isStored (muxer: StreamMuxer, protocol: string): Promise<boolean> {
    const peer = this.#peers.get(muxer.streams)

    try {
      return peer != null && (await this.#components.peerStore.get(peer)).protocols.includes(protocol)
    } catch {
      // nothing is known of the peer, or nothing can be known
      return false
    }
  }

  /** List the protocol in the peer store, as libp2p does once it has negotiated a stream */
  async store (muxer: StreamMuxer, protocol: string): Promise<void> {
    const peer = this.#peers.get(muxer.streams)

    if (peer == null) {
      return
    }

    try {
      await this.#components.peerStore.merge(peer, { protocols: [protocol] })
    } catch (err) {
      this.#log.error('could not list %s in the peer store for %p - %e', protocol, peer, err)
    }
  }

  #learn (peerId: PeerId, change: (spoken: Set<string>) => Set<string>): void {
    const peer = this.#known.get(peerId.toString())

    // what is still heard of a peer that was forgotten, or was never here, would be kept for good
    if (peer != null) {
      peer.spoken = change(peer.spoken ?? new Set())
    }
  }

  #arrive (key: string): void {
    const peer = this.#known.get(key) ?? { connections: 0 }

    peer.connections++
    this.#known.set(key, peer)
    this.#absent.delete(key)
  }

  #leave (key: string): void {
    const peer = this.#known.get(key)

    if (peer == null || --peer.connections > 0) {
      return
    }

    if (peer.spoken == null) {
      this.#known.delete(key)
      return
    }

    this.#absent.add(key)

    if (this.#absent.size > MAX_ABSENT) {
      const [oldest] = this.#absent
      this.#absent.delete(oldest)
      this.#known.delete(oldest)
    }
  }

  /** libp2p has set the protocol of the stream, if the peer has agreed to one */
  #look (muxer: StreamMuxer, stream: Stream): void {
    const watched = this.#watched.get(muxer.streams)

    if (stream.protocol !== '' && watched?.delete(stream) === true) {
      this.add(muxer, stream.protocol)
    }
  }

  /**
   * libp2p asked for its own change of the list before the refusal could come, and the
   * peer store keeps the order. But others may change the list between our reading it
   * and our replacing it, identify above all: then it is replaced by theirs.
   */
  async #remove (peer: PeerId, protocol: string): Promise<void> {
    let { protocols: stored } = await this.#components.peerStore.get(peer)
    let wanted = without(protocol, stored)

    while (!isSame(wanted, stored)) {
      const previous = await this.#replace(peer, wanted)
      const next = isSame(previous, stored) ? wanted : without(protocol, previous)

      stored = wanted
      wanted = next
    }
  }

  /** @returns what was there, as far as the peer store tells */
  async #replace (peer: PeerId, protocols: string[]): Promise<string[]> {
    const { events, peerStore } = this.#components
    const updates: PeerUpdate[] = []
    const onUpdate = ({ detail }: CustomEvent<PeerUpdate>): void => { updates.push(detail) }

    events.addEventListener('peer:update', onUpdate)

    try {
      const patched = await peerStore.patch(peer, { protocols })

      return updates.find(({ peer }) => peer === patched)?.previous?.protocols ?? protocols
    } finally {
      events.removeEventListener('peer:update', onUpdate)
    }
  }
}

function without (name: string, names: string[]): string[] {
  return names.filter(other => other !== name)
}

function isSame (names: string[], others: string[]): boolean {
  return names.length === others.length && names.every(name => others.includes(name))
}
