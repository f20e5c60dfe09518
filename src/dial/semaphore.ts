import { afterPoll } from '../event-loop/after-poll.ts'

interface Wish {
  granted(): void
  evicted?(): void

  /** When it was granted, by the clock of `performance.now()` */
  since: number
}

/** Limits how many do something at a time. Who waits longest is next */
export class Semaphore {
  readonly #places: number
  readonly #patience: number

  /** Oldest first */
  readonly #held = new Set<Wish>()
  readonly #waiting = new Set<Wish>()
  #cancelTimer?: () => void

  /** Who holds a place for longer than `patience`, in ms, loses it if another needs one */
  constructor (places: number, patience = Infinity) {
    this.#places = places
    this.#patience = patience
  }

  /**
   * Neither callback may throw. `granted` may be called before this returns, `evicted` when the place was given to another.
   *
   * @returns gives the place back, or the wish for one
   */
  take (granted: () => void, evicted?: () => void): () => void {
    const wish: Wish = { granted, evicted, since: 0 }

    this.#waiting.add(wish)
    this.#next()

    return () => {
      this.#held.delete(wish)
      this.#waiting.delete(wish)
      this.#next()
    }
  }

  readonly #next = (): void => {
    const now = performance.now()

    this.#cancelTimer?.()

    for (const wish of this.#waiting) {
      const [oldest] = this.#held

      if (this.#held.size >= this.#places) {
        const wait = oldest.since + this.#patience - now

        // timers tick in whole milliseconds
        if (wait >= 1) {
          // its answer may have come while the event loop was busy
          this.#cancelTimer = wait < Infinity ? afterPoll(wait, this.#next) : undefined
          return
        }

        this.#held.delete(oldest)
        oldest.evicted?.()
      }

      this.#waiting.delete(wish)
      wish.since = now
      this.#held.add(wish)
      wish.granted()
    }
  }
}
