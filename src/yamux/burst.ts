import { FIRST_WINDOW } from './frames.ts'

/**
 * So much that comes at once, after silence, tells the rate of the path in the first round trip of a
 * stream. It is more than the kernel keeps of a new connection whose receiver was busy, and more than a
 * `for await` loop keeps before it pauses the stream
 */
const ENOUGH = 5 / 8 * FIRST_WINDOW

/** In round trips */
const SILENCE = 1 / 4

/** A burst may mislead, and what was granted cannot be taken back: no more than so many times the burst counts */
const MOST = 32

export interface BurstRate {
  /** What arrives in a round trip, in bytes */
  delivered: number

  /** The largest window that the burst is proof enough of, in bytes */
  most: number
}

/** What comes at once after the peer was silent. Its first part only tells when it began */
export class Burst {
  /** `-Infinity`: it would prove nothing */
  #startedAt = -Infinity
  #bytes = 0
  #lastAt = -Infinity

  /** When the last data came */
  get lastAt (): number {
    return this.#lastAt
  }

  /**
   * @param bytes - that came
   * @param now - in ms
   * @param ms - the least round trip
   * @param waited - how long the peer had nothing but the window to wait for, in ms. Undefined if it may have had nothing to send
   * @returns undefined unless it tells the rate
   */
  onData (bytes: number, now: number, ms: number, waited?: number): BurstRate | undefined {
    const isSilent = now - this.#lastAt > SILENCE * ms

    this.#lastAt = now

    if (isSilent) {
      this.#startedAt = (waited ?? Infinity) < (1 + SILENCE) * ms ? now : -Infinity
      this.#bytes = 0
      return
    }

    this.#bytes += bytes

    if (this.#bytes >= ENOUGH) {
      return { delivered: this.#bytes * ms / (now - this.#startedAt), most: MOST * this.#bytes }
    }
  }
}
