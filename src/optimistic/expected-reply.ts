/**
 * - `awaiting`: every byte so far was as expected, and more must come
 * - `verified`: the whole reply came
 * - `refused`: another byte came; this is final
 */
export type ReplyState = 'awaiting' | 'verified' | 'refused'

/**
 * Compares what a peer sends with the presumed reply, wherever the bytes are split. It
 * keeps and decodes nothing, so a peer cannot make it use memory.
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
   * @returns the bytes behind the reply. They are for the reader if the state is `verified`. If it
   * is `refused`, drop them
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

  /** The peer sends no more, so a reply that is incomplete now is a refusal */
  end (): void {
    if (this.#state === 'awaiting') {
      this.#state = 'refused'
    }
  }
}
