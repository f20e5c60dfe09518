import { Recent } from '../recent.ts'
import { firstOf, withName } from './remembered-names.ts'
import type { Libp2pEvents, Logger, PeerId, PeerStore, Stream, StreamMuxer, TypedEventTarget } from '@libp2p/interface'

export interface KnownProtocolsComponents {
  peerStore: PeerStore
  events: TypedEventTarget<Libp2pEvents>
}

/** How many peers without a connection are remembered. A new one replaces the one that left longest ago */
const MAX_ABSENT = 1_000

/** How long what a peer spoke is believed after it has left, in ms: it may return with other software */
const ABSENT_AGE = 60 * 60_000

interface KnownPeer {
  connections: number

  /** Undefined until the peer named or accepted a protocol */
  spoken?: Set<string>
}

/**
 * Knows which protocols the peer at the other end of a muxer speaks: those that it
 * named itself (identify), and those that were negotiated on a stream that we opened.
 *
 * The peer store cannot say: libp2p also lists protocols there for which the peer has opened
 * streams, and a client of a protocol need not serve it.
 *
 * A muxer does not know its peer. libp2p names the peer when it opens a connection, and that
 * connection has the same `streams` array as the muxer.
 */
export class KnownProtocols {
  readonly #components: KnownProtocolsComponents
  readonly #log: Logger
  readonly #peers = new WeakMap<object, PeerId>()

  /** Those with a connection */
  readonly #known = new Map<string, KnownPeer>()

  /** What those spoke that have left */
  readonly #absent: Recent<Set<string>>

  /** By `streams` array: our streams whose protocol is being negotiated, or was since the last call of `has` */
  readonly #watched = new WeakMap<object, Set<Stream>>()

  /** By `streams` array: protocols whose proposal failed there, so that they are not presumed again */
  readonly #doubted = new WeakMap<object, Set<string>>()

  /** By `streams` array: see {@link wasStored} */
  readonly #stored = new WeakMap<object, Map<string, Promise<boolean>>>()

  /** Reading and replacing the list of the peer store are two steps, so revocations run one after the other */
  #revoking: Promise<void> = Promise.resolve()

  constructor (components: KnownProtocolsComponents, log: Logger, now?: () => number) {
    this.#components = components
    this.#log = log
    this.#absent = new Recent(MAX_ABSENT, ABSENT_AGE, now)

    components.events.addEventListener('connection:open', event => {
      const { streams, remotePeer, status } = event.detail

      if (status === 'open') {
        this.#peers.set(streams, remotePeer)
        this.#arrive(remotePeer.toString())
      }
    })
    components.events.addEventListener('peer:identify', event => {
      const { peerId, protocols } = event.detail

      // an identify message without protocols reports something else
      if (protocols.length > 0) {
        this.#learn(peerId, () => firstOf(protocols))
      }
    })
    // no 'peer:disconnect' comes for peers that are connected when the node stops
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

    // from now on it is rightly in the peer store
    this.#stored.get(muxer.streams)?.delete(protocol)

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

  /** Stop presuming the protocol on this connection */
  doubt (muxer: StreamMuxer, protocol: string): void {
    const doubted = this.#doubted.get(muxer.streams) ?? new Set()

    doubted.add(protocol)
    this.#doubted.set(muxer.streams, doubted)
  }

  /**
   * The peer does not speak the protocol: stop presuming it. libp2p put it in the peer
   * store, because it believed that the protocol was negotiated. Take it out again, unless
   * it was there before: negotiation in full would leave it there.
   */
  revoke (muxer: StreamMuxer, protocol: string, wasStored: Promise<boolean> = Promise.resolve(true)): void {
    const peer = this.#peers.get(muxer.streams)

    this.doubt(muxer, protocol)

    if (peer == null) {
      return
    }

    this.#spoken(peer.toString())?.delete(protocol)
    this.#revoking = Promise.all([wasStored, this.#revoking])
      .then(async ([wasStored]) => wasStored ? undefined : this.#remove(peer, protocol))
      .catch(err => {
        this.#log.error('could not take %s out of the peer store for %p - %e', protocol, peer, err)
      })
  }

  /**
   * Whether the peer store listed the protocol for the peer before the first proposal on this connection. libp2p lists
   * what was proposed, and leaves it there if the stream is aborted before the peer has replied
   */
  async wasStored (muxer: StreamMuxer, protocol: string): Promise<boolean> {
    const stored = this.#stored.get(muxer.streams) ?? new Map<string, Promise<boolean>>()
    const wasStored = stored.get(protocol) ?? this.#isStored(muxer, protocol)

    stored.set(protocol, wasStored)
    this.#stored.set(muxer.streams, stored)

    return wasStored
  }

  /** List the protocol in the peer store, as libp2p does after it has negotiated a stream */
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

  async #isStored (muxer: StreamMuxer, protocol: string): Promise<boolean> {
    const peer = this.#peers.get(muxer.streams)

    try {
      return peer != null && (await this.#components.peerStore.get(peer)).protocols.includes(protocol)
    } catch {
      // the peer store knows nothing of the peer, or cannot be read
      return false
    }
  }

  #learn (peerId: PeerId, change: (spoken: Set<string>) => Set<string>): void {
    const peer = this.#known.get(peerId.toString())

    // data about a peer that is forgotten, or was never connected, would be kept for good
    if (peer != null) {
      peer.spoken = change(peer.spoken ?? new Set())
    }
  }

  #arrive (key: string): void {
    const peer = this.#known.get(key) ?? { connections: 0, spoken: this.#absent.get(key) }

    peer.connections++
    this.#known.set(key, peer)
    this.#absent.delete(key)
  }

  #leave (key: string): void {
    const peer = this.#known.get(key)

    if (peer == null || --peer.connections > 0) {
      return
    }

    this.#known.delete(key)

    if (peer.spoken != null) {
      this.#absent.set(key, peer.spoken)
    }
  }

  /** Also of a peer that has left */
  #spoken (key: string): Set<string> | undefined {
    return this.#known.get(key)?.spoken ?? this.#absent.get(key)
  }

  /** libp2p has set the protocol of the stream, if the peer has agreed to one */
  #look (muxer: StreamMuxer, stream: Stream): void {
    const watched = this.#watched.get(muxer.streams)

    if (stream.protocol !== '' && watched?.delete(stream) === true) {
      this.add(muxer, stream.protocol)
    }
  }

  /**
   * libp2p added the protocol before the refusal could come, and the peer store applies changes
   * in order. What another writer adds between the two steps is lost until it is added again, as
   * libp2p does for every stream.
   */
  async #remove (peer: PeerId, protocol: string): Promise<void> {
    const { peerStore } = this.#components
    const { protocols } = await peerStore.get(peer)

    if (protocols.includes(protocol)) {
      await peerStore.patch(peer, { protocols: protocols.filter(name => name !== protocol) })
    }
  }
}
