import { UnsupportedProtocolError } from '@libp2p/interface'
import { PLAINTEXT } from '../libp2p.ts'
import { decodeProposal, encodeProposal } from './codec.ts'
import { ExpectedReply } from './expected-reply.ts'
import type { WireFilter } from '../connection/wire-filter.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * - `undecided`: nothing was sent or received yet
 * - `passing`: there is nothing to propose early, everything passes through
 * - `awaiting`: proposed, and answered locally; the peer's reply is not complete yet
 * - `verified`: the peer replied as presumed
 * - `refused`: the peer replied otherwise, or closed before it replied
 */
export type NegotiationState = 'undecided' | 'passing' | 'awaiting' | 'verified' | 'refused'

/**
 * Saves the round trip in which the two ends of a dialed connection agree on an
 * encrypter by multistream-select. It acts if the first `send` is a header and one
 * proposal. These go out as usual, and the upgrader gets the reply that it hopes for
 * at once, so that its handshake follows in the same segment. The peer's reply is
 * compared with that one, and taken out of the input.
 *
 * The bytes alone decide. If the first `send` is something else (the nonce of a private
 * network, say), it passes through, and so does everything after it.
 */
export class DialProposal implements WireFilter {
  #state: NegotiationState = 'undecided'
  #reply?: ExpectedReply
  #protocol?: string

  get state (): NegotiationState {
    return this.#state
  }

  get done (): boolean {
    return this.#state !== 'undecided' && this.#state !== 'awaiting'
  }

  /** The protocol that was proposed */
  get protocol (): string | undefined {
    return this.#protocol
  }

  onSend (data: Uint8ArrayList): Uint8Array | undefined {
    if (this.#state !== 'undecided') {
      return
    }

    this.#protocol = decodeProposal(data)

    if (this.#protocol == null || this.#protocol === PLAINTEXT) {
      this.#state = 'passing'
      return
    }

    const reply = encodeProposal(this.#protocol)
    this.#reply = new ExpectedReply(reply)
    this.#state = 'awaiting'

    return reply
  }

  onReceive (data: Uint8Array): Uint8Array {
    if (this.#reply == null) {
      // the peer spoke first: the reader must see that
      this.#state = 'passing'
      return data
    }

    const rest = this.#reply.receive(data)
    this.#state = this.#reply.state
    this.#throwIfRefused('the peer refused it')

    return rest
  }

  onEnd (): void {
    this.#reply?.end()
    this.#state = this.#reply?.state ?? 'passing'
    this.#throwIfRefused('the peer closed the connection before it replied')
  }

  #throwIfRefused (reason: string): void {
    if (this.#state === 'refused') {
      throw new UnsupportedProtocolError(`Optimistic negotiation of ${this.#protocol} failed: ${reason}`)
    }
  }
}
