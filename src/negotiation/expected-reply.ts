/**
 * - `awaiting`: every byte so far was the expected one, more must come
 * - `verified`: the whole reply came
 * - `refused`: another byte came, and nothing can change that any more
 */
export type ReplyState = 'awaiting' | 'verified' | 'refused'

/**
 * Compares what a peer sends with the reply that was presumed, wherever the
 * bytes are split. It keeps nothing of what it is given and decodes nothing,
 * so there is nothing that a peer could make large.
 */
export class ExpectedReply {
  readonly #expected: Uint8Array
  #received = 0
  #state: ReplyState = 'awaiting'

  constructor (expected: Uint8Array) {
    this.#expected = expected
  }

  get state (): ReplyState {
    return this.#state
  }

  /**
   * Take the next bytes from the peer.
   *
   * @returns those that are not part of the reply, which are for the reader if
   * the state is `verified` and for nobody if it is `refused`
   */
  receive (bytes: Uint8Array): Uint8Array {
    let used = 0

    while (this.#state === 'awaiting' && used < bytes.byteLength) {
      if (bytes[used] === this.#expected[this.#received]) {
        used++
        this.#received++
        this.#state = this.#received === this.#expected.byteLength ? 'verified' : 'awaiting'
      } else {
        this.#state = 'refused'
      }
    }

    return bytes.subarray(used)
  }

  /** The peer sends no more: a reply that is not whole never will be */
  end (): void {
    if (this.#state === 'awaiting') {
      this.#state = 'refused'
    }
  }
}
