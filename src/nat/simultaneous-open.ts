import { PlanError } from '../connector.ts'
import { NOISE, TLS } from '../libp2p.ts'
import { decodeProposal } from '../optimistic/codec.ts'
import type { WireFilter } from '../connection/wire-filter.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * - `undecided`: nothing was sent yet
 * - `watching`: the bytes so far may come from a peer that dialed or from one that listened
 * - `found`: the peer dialed too
 * - `none`: the peer listened, or the bytes do not show it
 */
export type SimultaneousOpenState = 'undecided' | 'watching' | 'found' | 'none'

/** How many first bytes of a handshake show which end sent them */
const TELLING_BYTES = 6

/**
 * Ends a dialed connection whose other end dialed too. If both dial from their listening
 * ports at the same time, TCP makes one connection of the two dials. Each end would then wait
 * for the other's answer to its first message. The proposal of an encrypter does not show this,
 * because the reply to it has the same bytes. The first message of a handshake does: it differs
 * from the second, which a listener sends.
 */
export class SimultaneousOpen implements WireFilter {
  readonly #inner?: WireFilter
  #state: SimultaneousOpenState = 'undecided'
  #protocol?: string

  /** How many bytes of the reply to the proposal are still to come */
  #replyBytes = 0
  readonly #handshake: number[] = []

  constructor (inner?: WireFilter) {
    this.#inner = inner
  }

  get state (): SimultaneousOpenState {
    return this.#state
  }

  get done (): boolean {
    return this.#state === 'found' || (this.#state === 'none' && this.#inner?.done !== false)
  }

  onSend (data: Uint8ArrayList): Uint8Array | undefined {
    if (this.#state === 'undecided') {
      this.#protocol = decodeProposal(data)
      this.#replyBytes = data.byteLength
      this.#state = this.#protocol == null ? 'none' : 'watching'
    }

    return this.#inner?.onSend(data)
  }

  onReceive (data: Uint8Array): Uint8Array {
    this.#watch(data)

    return this.#inner?.done === false ? this.#inner.onReceive(data) : data
  }

  onEnd (): void {
    // the peer noticed it first, and closed instead of beginning its handshake
    if (this.#state === 'watching' && this.#replyBytes === 0 && this.#handshake.length === 0) {
      this.#find()
    }

    if (this.#inner?.done === false) {
      this.#inner.onEnd()
    }
  }

  #watch (data: Uint8Array): void {
    if (this.#state === 'undecided') {
      this.#state = 'none'
    }

    if (this.#state !== 'watching') {
      return
    }

    const skipped = Math.min(this.#replyBytes, data.byteLength)
    this.#replyBytes -= skipped
    this.#handshake.push(...data.subarray(skipped, skipped + TELLING_BYTES - this.#handshake.length))

    if (this.#handshake.length < TELLING_BYTES) {
      return
    }

    if (isFirstMessage(this.#protocol, this.#handshake)) {
      this.#find()
    }

    this.#state = 'none'
  }

  #find (): never {
    this.#state = 'found'
    throw new PlanError('simultaneous-open', 'The peer dialed at the same time')
  }
}

/** Whether these are the first bytes of a client's handshake */
function isFirstMessage (protocol: string | undefined, [first, second, , , , sixth]: number[]): boolean {
  switch (protocol) {
    case NOISE:
      // its length: an ephemeral key alone has 32 bytes, the answer 96 or more
      return first === 0 && second === 32
    case TLS:
      // a record of the handshake that holds a ClientHello
      return first === 22 && sixth === 1
    default:
      return false
  }
}
