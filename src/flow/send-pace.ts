/** Send so many times as fast as data arrives: faster lines are found, and what timers lose is made up for */
const GAIN = 1.5

/** Send so much at once, in ms of that: timers are no finer */
const AHEAD = 10

/** A pause longer than this is not made up for, in ms: what would come behind it at once would fill the queue */
const CATCH_UP = 50

/** A frame takes the line so long, in ms. A larger one would be in the way of all that comes next */
const FRAME_TIME = 10

const LEAST_FRAME = 4 * 1024

/** A message of an encrypter has no more */
const MOST_FRAME = 64 * 1024

/**
 * Spreads what a {@link SendWindow} allows. All of it at once would wait in the queue of the line, or be lost
 * where that is short, and a message that comes next would wait behind it.
 */
export class SendPace {
  /** When what was sent would have left */
  #leftAt = -Infinity

  /** `rate` is what arrives, in bytes a ms */
  onSent (bytes: number, rate: number, now: number): void {
    this.#leftAt = Math.max(this.#leftAt, now - CATCH_UP) + bytes / (GAIN * rate)
  }

  /** The window was full until now, which is not made up for */
  restart (now: number): void {
    this.#leftAt = Math.max(this.#leftAt, now)
  }

  /** For how long nothing more should be sent, in ms */
  wait (now: number): number {
    const ahead = this.#leftAt - now

    return ahead > AHEAD ? ahead : 0
  }
}

/** The most that a stream should send at a time, in bytes. `rate` is what arrives, in bytes a ms */
export function frameBytes (rate = Infinity): number {
  return Math.floor(Math.max(LEAST_FRAME, Math.min(MOST_FRAME, rate * FRAME_TIME)))
}
