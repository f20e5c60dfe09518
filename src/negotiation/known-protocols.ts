import type { Libp2pEvents, Logger, PeerId, PeerStore, StreamMuxer, TypedEventTarget } from '@libp2p/interface'

export interface KnownProtocolsComponents {
  peerStore: PeerStore
  events: TypedEventTarget<Libp2pEvents>
}

/**
 * Knows which protocols the peer at the other end of a muxer speaks: those that
 * the peer store lists for it. Identify puts them there, and libp2p itself does
 * so whenever a protocol was negotiated.
 *
 * A muxer does not know whose it is. libp2p tells when it opens a connection,
 * whose list of streams is the muxer's.
 */
export class KnownProtocols {
  readonly #components: KnownProtocolsComponents
  readonly #log: Logger
  readonly #peers = new WeakMap<object, PeerId>()

  /** Reading and replacing what the peer store lists are two steps: one revocation after the other */
  #revoking: Promise<void> = Promise.resolve()

  /** By list of streams: what was not answered as known protocols are, so that it must not be presumed again there */
  readonly #doubted = new WeakMap<object, Set<string>>()

  constructor (components: KnownProtocolsComponents, log: Logger) {
    this.#components = components
    this.#log = log

    components.events.addEventListener('connection:open', event => {
      this.#peers.set(event.detail.streams, event.detail.remotePeer)
    })
  }

  async has (muxer: StreamMuxer, protocol: string): Promise<boolean> {
    const peer = this.#peers.get(muxer.streams)

    if (peer == null || this.#doubted.get(muxer.streams)?.has(protocol) === true) {
      return false
    }

    try {
      return (await this.#protocols(peer)).includes(protocol)
    } catch (err) {
      // what only saves a round trip must not fail a stream
      this.#log.error('could not read the protocols of %p - %e', peer, err)
      return false
    }
  }

  /** Presume the protocol no more on this connection */
  doubt (muxer: StreamMuxer, protocol: string): void {
    const doubted = this.#doubted.get(muxer.streams) ?? new Set()

    doubted.add(protocol)
    this.#doubted.set(muxer.streams, doubted)
  }

  /**
   * The peer said that it does not speak the protocol: presume it no more, and
   * take it out of the peer store, where libp2p has put it in the belief that it
   * was negotiated.
   */
  async revoke (muxer: StreamMuxer, protocol: string): Promise<void> {
    const peer = this.#peers.get(muxer.streams)

    this.doubt(muxer, protocol)

    if (peer == null) {
      return
    }

    this.#revoking = this.#revoking.then(async () => this.#remove(peer, protocol)).catch(err => {
      this.#log.error('could not take %s out of the peer store for %p - %e', protocol, peer, err)
    })

    await this.#revoking
  }

  /** libp2p asked for its own change of the list before the refusal could come, and the peer store keeps the order */
  async #remove (peer: PeerId, protocol: string): Promise<void> {
    const protocols = await this.#protocols(peer)

    await this.#components.peerStore.patch(peer, {
      protocols: protocols.filter(known => known !== protocol)
    })
  }

  async #protocols (peer: PeerId): Promise<string[]> {
    try {
      return (await this.#components.peerStore.get(peer)).protocols
    } catch (err: any) {
      if (err.name === 'NotFoundError') {
        return []
      }

      throw err
    }
  }
}
