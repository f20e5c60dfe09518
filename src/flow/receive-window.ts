import { FIRST_WINDOW } from './yamux-frames.ts'
import type { RoundTrip } from './round-trip.ts'

/** The largest window of js-yamux by default, in bytes */
export const MAX_WINDOW = 16 * 1024 * 1024

/**
 * The window in what arrives in a round trip, once that grows no more. With two a sender has nothing
 * left while TCP repairs a loss, and where losses are many it loses a sixth of the line
 */
const STEADY_GAIN = 3

/** While it grows. TCP's slow start doubles what arrives in each round trip, and the update must be there before */
const STARTUP_GAIN = 4

/** While the round trip is being measured */
const DRAIN_GAIN = 1

/** It grows if it is so many times what it was */
const GROWTH = 1.25

/** It grows no more after this many round trips without growth */
const FLAT_ROUNDS = 3

/**
 * So much that comes at once, after silence, tells the rate of the path in the first round trip of a
 * stream. It is more than the kernel keeps of a new connection whose receiver was busy, and more than a
 * `for await` loop keeps before it pauses the stream
 */
const BURST = 5 / 8 * FIRST_WINDOW

/** In round trips */
const SILENCE = 1 / 4

/** A reader that keeps up takes within this time what has come, in ms. One that takes it later has paused the stream meanwhile */
const TAKEN_WITHIN = 1

/** A burst may mislead, and what was granted cannot be taken back: the window has at most so many times the burst */
const BURST_GROWTH = 32

/** A window that was larger than it must be becomes smaller by this in a round trip */
const DECAY = 0.9

/** The part of a window that is granted at once. With half, the sender would have nothing left when the update comes */
const UPDATE = 1 / 4

/** The most that must be free before an update, in bytes: a peer with a large window would lack the part that was not granted */
const MOST_DUE = FIRST_WINDOW

/** Bounds what windows may grow to together. They give back what they do not need */
export interface WindowBudget {
  left: number
}

/**
 * How much a peer may send on a stream: about what arrives in three round trips, by the delivered
 * rate and the least round trip, as BBR finds them at the sending end. More would wait in the queues of the path
 * and delay all else.
 *
 * The muxer grants credit for what it has taken, and up to its own, larger window. This tells the
 * peer less of that, and later.
 */
export class ReceiveWindow {
  readonly #budget: WindowBudget
  readonly #keepsUp: () => boolean

  /** What the peer may still send. Less than 0 if both ends are configured to begin with more */
  credit = FIRST_WINDOW

  /** What the muxer has granted and the peer was not told of */
  withheld = 0

  #target = FIRST_WINDOW
  #received = 0

  /** Of the round trip that is being counted */
  #startedAt: number
  #bytes = 0

  /** What has arrived in the last one */
  #delivered = 0

  /** The most that has arrived in a round trip, and how many were no better since */
  #most = 0
  #flatRounds = 0

  /** What has come since the peer was silent, without the first part. `-Infinity`: a burst would prove nothing */
  #burstAt = -Infinity
  #burstBytes = 0
  #lastAt = -Infinity

  /** The window that the burst asks for */
  #wanted = 0

  /** A grant, and the data behind all that the peer could send without it */
  #grantedAt = 0
  #answerAt = Infinity

  /** `keepsUp`: the reader has taken all that came until now. One that lags behind needs no larger window */
  constructor (now: number, budget: WindowBudget, keepsUp: () => boolean) {
    this.#startedAt = now
    this.#budget = budget
    this.#keepsUp = keepsUp
  }

  onData (bytes: number, now: number, roundTrip: RoundTrip): void {
    this.credit -= bytes
    this.#received += bytes
    this.#bytes += bytes

    const isDraining = roundTrip.isDraining(now)

    const answer = this.#received > this.#answerAt ? now - this.#grantedAt : undefined

    if (answer != null) {
      this.#answerAt = Infinity
      // the first window may be more than what fits the path, and cannot be drained
      roundTrip.add(answer, now, isDraining && roundTrip.isDrained(this.#grantedAt) && this.#delivered > 0.75 * FIRST_WINDOW)
    }

    const elapsed = now - this.#startedAt
    const { ms } = roundTrip

    if (ms == null) {
      return
    }

    if (elapsed >= ms) {
      this.#delivered = this.#bytes * ms / elapsed
      this.#fit(this.#delivered, isDraining)
      this.#startedAt = now
      this.#bytes = 0
    }

    if (now - this.#lastAt > SILENCE * ms) {
      // nothing but the window has made the peer silent, or this is the first window
      this.#burstAt = this.#grantedAt === 0 || (answer ?? Infinity) < (1 + SILENCE) * ms ? now : -Infinity
      this.#burstBytes = 0
    } else {
      this.#burstBytes += bytes

      if (this.#flatRounds < FLAT_ROUNDS && this.#burstBytes >= BURST) {
        const delivered = this.#burstBytes * ms / (now - this.#burstAt)

        this.#wanted = Math.min(STEADY_GAIN * delivered, BURST_GROWTH * this.#burstBytes)
      }
    }

    this.#lastAt = now
  }

  /** Whether it is worth to call `onTaken` and `due`. Cheap, for each frame */
  get mayBeDue (): boolean {
    return this.#wanted > 0 || this.due(0) > 0
  }

  /**
   * The muxer has granted more, so the reader has taken something. If it has taken a burst at once, the
   * window grows with that.
   *
   * @param now - in ms
   * @param isRead - the stream keeps nothing
   */
  onTaken (now: number, isRead: boolean): void {
    if (now - this.#lastAt <= TAKEN_WITHIN && isRead) {
      this.#resize(Math.max(this.#target, this.#wanted))
    }

    this.#wanted = 0
  }

  /**
   * What to tell the peer now, in bytes. 0: nothing yet.
   *
   * @param unread - what has arrived and nobody has read, in bytes
   */
  due (unread: number): number {
    const window = Math.min(this.#target, this.credit + this.withheld)
    const due = window - this.credit - unread

    return due < Math.max(1, Math.min(window * UPDATE, MOST_DUE)) ? 0 : due
  }

  /** The peer is being told */
  grant (bytes: number, now: number): void {
    if (this.#answerAt === Infinity) {
      this.#answerAt = this.#received + Math.max(0, this.credit)
      this.#grantedAt = now
    }

    this.credit += bytes
    this.withheld -= bytes
  }

  /** The peer sends no more */
  end (): void {
    this.#resize(FIRST_WINDOW)
  }

  #fit (delivered: number, isDraining: boolean): void {
    if (delivered > this.#most * GROWTH) {
      this.#most = delivered
      this.#flatRounds = 0
    } else {
      this.#flatRounds++
    }

    const steadyGain = isDraining ? DRAIN_GAIN : STEADY_GAIN
    const gain = this.#flatRounds < FLAT_ROUNDS ? STARTUP_GAIN : steadyGain

    const fits = gain * delivered

    this.#resize(Math.max(fits <= this.#target || this.#keepsUp() ? fits : this.#target, this.#target * (isDraining ? 0 : DECAY), FIRST_WINDOW))
  }

  #resize (wanted: number): void {
    const target = Math.min(Math.round(wanted), MAX_WINDOW, this.#target + Math.max(0, this.#budget.left))

    this.#budget.left -= target - this.#target
    this.#target = target
  }
}
