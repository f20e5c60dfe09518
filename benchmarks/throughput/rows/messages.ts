import type { Bytes } from '../../../test/lab/peers/contender.ts'

/** A message whose bytes tell where they belong. */
export function patternOf (byteLength: number): Uint8Array {
  // a prime period, or a message of 2^n bytes could arrive with its parts exchanged
  return Uint8Array.from({ length: byteLength }, (_, index) => index % 251)
}

/**
 * Compares what arrives with what should, once: to look at every byte of every
 * message would be measured too.
 *
 * @throws {Error} at the first byte that is wrong
 */
export class FirstMessageCheck {
  readonly #expected: Uint8Array
  #checked = 0

  constructor (expected: Uint8Array) {
    this.#expected = expected
  }

  see (bytes: Bytes): void {
    if (this.#checked === this.#expected.byteLength) {
      return
    }

    for (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
      const known = part.subarray(0, this.#expected.byteLength - this.#checked)
      const expected = this.#expected.subarray(this.#checked, this.#checked + known.byteLength)

      if (Buffer.compare(known, expected) !== 0) {
        throw new Error(`Wrong bytes at offset ${this.#checked} of the first message`)
      }

      this.#checked += known.byteLength
    }
  }
}
