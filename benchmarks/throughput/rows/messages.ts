import type { Bytes } from '../../../test/lab/peers/contender.ts'

/** A message whose bytes tell where they belong. */
export function patternOf (byteLength: number): Uint8Array {
  // a prime period, or a message of 2^n bytes could arrive with its parts exchanged
  return Uint8Array.from({ length: byteLength }, (_, index) => index % 251)
}

/** Whether messages are copied into one buffer, as applications do, or the first one is to be compared, or all are counted alone */
export type What = 'put together' | 'check first' | 'count'

/** Messages of one kind, wherever TCP splits them */
export class Incoming {
  readonly #expected: Uint8Array
  readonly #what: What
  readonly #onMessage: () => void
  #whole = new Uint8Array(0)
  #received = 0
  #isChecked = false

  constructor (expected: Uint8Array, what: What, onMessage: () => void) {
    this.#expected = expected
    this.#what = what
    this.#onMessage = onMessage
  }

  receive (bytes: Bytes): void {
    if (this.#what === 'put together' || (this.#what === 'check first' && !this.#isChecked)) {
      this.#copy(bytes)
    }

    this.#received += bytes.byteLength

    while (this.#received >= this.#expected.byteLength) {
      this.#received -= this.#expected.byteLength
      this.#onMessage()
    }
  }

  /**
   * Compares the first message with what it should be: to look at every byte of every
   * message would be measured too.
   *
   * @throws {Error} if it is another
   */
  #copy (bytes: Bytes): void {
    if (this.#received === 0) {
      this.#whole = new Uint8Array(this.#expected.byteLength)
    }

    let at = this.#received

    for (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
      this.#whole.set(part.subarray(0, this.#expected.byteLength - at), at)
      at = Math.min(at + part.byteLength, this.#expected.byteLength)
    }

    if (!this.#isChecked && at === this.#expected.byteLength) {
      this.#isChecked = true

      if (Buffer.compare(this.#whole, this.#expected) !== 0) {
        throw new Error('Wrong bytes in the first message')
      }
    }
  }
}
