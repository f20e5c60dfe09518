/** Send so many times as fast as a window allows in the long run: faster lines are found, and what timers lose is made up for */
const GAIN = 1.5

/** Send so much at once, in ms of that: timers are no finer */
const AHEAD = 10

/** A pause longer than this is not made up for, in ms: what would come behind it at once would fill the queue */
const CATCH_UP = 50

/** An event loop that is late must send what takes so long, in ms, and no more: a window has about as much */
const MOST_LATE = 250

/** An event loop that was late once is taken for less late with each timer */
const DECAY = 0.9

/** A frame takes the line so long, in ms. A larger one would be in the way of all that comes next */
const FRAME_TIME = 10

const LEAST_FRAME = 4 * 1024
const MOST_FRAME = 64 * 1024

/**
 * Spreads what a {@link SendWindow} allows. All of it at once would wait in the queue of the line, or be lost
 * where that is short, and a message that comes next would wait behind it.
 *
 * Rates are in bytes a ms.
 */
export class SendPace {
  /** What was sent too early until then, in bytes. Less than 0 is made up for */
  #ahead = 0
  #at = 0

  /** How late the event loop is, in ms */
  #late = 0

  onSent (bytes: number, rate: number, now: number): void {
    this.#pass(rate, now)
    this.#ahead += bytes
  }

  /** For how long nothing more should be sent, in ms */
  wait (rate: number, now: number): number {
    this.#pass(rate, now)

    const ms = this.#ahead / (GAIN * rate)

    // the mean timer is late by half the time for which the event loop is busy
    return ms > Math.max(AHEAD, 2 * this.#late) ? ms : 0
  }

  /** All that was sent has arrived but so many bytes. `wasFull`: the window was, which is not made up for */
  onArrived (left: number, wasFull: boolean, rate: number, now: number): void {
    this.#pass(rate, now)
    this.#ahead = Math.min(this.#ahead, left)

    if (wasFull) {
      this.#ahead = Math.max(0, this.#ahead)
    }
  }

  /** A timer was so late, in ms */
  onTimer (late: number): void {
    this.#late = Math.min(MOST_LATE, Math.max(late, this.#late * DECAY))
  }

  #pass (rate: number, now: number): void {
    const least = -Math.max(CATCH_UP, this.#late) * GAIN * rate

    this.#ahead = Math.max(least, this.#ahead - (now - this.#at) * GAIN * rate)
    this.#at = now
  }
}

/** The most that a stream should send at a time, in bytes */
export function frameBytes (rate = Infinity): number {
  return Math.floor(Math.max(LEAST_FRAME, Math.min(MOST_FRAME, rate * FRAME_TIME)))
}
