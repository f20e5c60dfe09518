import { setImmediate } from './immediate.ts'

/**
 * How long all sockets together go on reading in a turn of the event loop, in ms. It counts
 * from the first large chunk on, other work included. Each socket reads one chunk in any case.
 */
const READ_BUDGET = 10

/** Bounds how long a turn of the event loop reads */
export class ReadBudget {
  /** By the clock of `performance.now()`; 0 until something large is read in this turn */
  #deadline = 0

  /** Something large is about to be dealt with */
  spend (): void {
    if (this.#deadline === 0) {
      this.#deadline = performance.now() + READ_BUDGET
      setImmediate(this.renew)
    }
  }

  /** Whether a socket should leave the rest of its input for a later turn */
  get isSpent (): boolean {
    return this.#deadline !== 0 && performance.now() >= this.#deadline
  }

  /** A turn is over. What runs before sockets are read again, such as timers, does not count */
  readonly renew = (): void => {
    this.#deadline = 0
  }
}
