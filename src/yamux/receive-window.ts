import { Burst } from './burst.ts'
import { FIRST_WINDOW, MAX_WINDOW } from './frames.ts'
import type { RoundTrip } from './round-trip.ts'
import type { WindowBudget } from './window-budget.ts'

/**
 * The window in what arrives in a round trip, once that grows no more. With two a sender has nothing
 * left while TCP repairs a loss, and where losses are many it loses a sixth of the line
 */
const STEADY_GAIN = 3

/** While it grows. TCP's slow start doubles what arrives in each round trip, and the update must be there before */
const STARTUP_GAIN = 4

/**
 * While TCP itself starts. A sender with BBR then has three round trips' worth in flight, until it has found no higher
 * rate although it always had something to send. If it lacks data, it goes on like that forever and overruns each queue:
 * a third of the packets were lost. What waits for an update, or for the rest of its frame, is missing, too
 */
const TCP_STARTUP_GAIN = 6

/** The same for a stream alone over a slow path, where such a frame is more than a round trip brings, in bytes, and what comes in this time, in ms */
const TCP_STARTUP_WINDOW = 3 / 2 * FIRST_WINDOW
const TCP_STARTUP_TIME = 1_500

/** While the round trip is being measured */
const DRAIN_GAIN = 1

/** It grows if it is so many times what it was */
const GROWTH = 1.25

/** It grows no more after this many round trips without growth */
const FLAT_ROUNDS = 3

/** A reader that keeps up takes within this time what has come, in ms. One that takes it later has paused the stream meanwhile */
const TAKEN_WITHIN = 1

/** A rate that is not reached again is forgotten by this in a round, since a peer may pause between its messages */
const DECAY = 0.9

/** Or by this, down to the mean of all streams, if it is well above that */
const DECAY_ABOVE_MEAN = 0.5

/**
 * Windows fit the path together, however unequal they are. So what arrives on a stream below the mean counts up to so many
 * times, and above it less by this part of what it is more. All of that would be too much: most streams may send little
 */
const MORE_BELOW_MEAN = 2
const LESS_ABOVE_MEAN = 1 / 4

/**
 * A round so many times as long as the next one waited for data that was lost. All that had come behind it counts in
 * the next one, so that alone proves no higher rate
 */
const STALLED = 2

/** Each stream has this besides what fits, while that is less than the first window. So windows become equal, in bytes */
const LEAST_WINDOW = 32 * 1024

/** Or its share of this, which is what a large frame takes */
const LEAST_WINDOWS = 64 * 1024

/** The round trip of a short path, for such windows, in ms: TCP takes this long for a loss, and event loops may be late by it */
const LEAST_TIME = 250

/** The part of a window that is granted at once. With half, the sender would have nothing left when the update comes */
const UPDATE = 1 / 4

/** The most that must be free before an update, in bytes: a peer with a large window would lack the part that was not granted */
const MOST_DUE = FIRST_WINDOW

/**
 * How much a peer may send on a stream: about what arrives in three round trips, by the delivered
 * rate and the least round trip, as BBR finds them at the sending end. More would wait in the queues of the path
 * and delay all else. The rate is that of whole rounds, which hold what the other streams have in the queues: in a
 * single round trip a stream may have the line for itself, and then all of them would be granted the whole line.
 */
export class ReceiveWindow {
  readonly #budget: WindowBudget
  readonly #keepsUp: () => boolean

  /** What the peer may still send */
  credit: number

  /** The largest that it may become */
  readonly #max: number

  #target: number
  #received = 0

  /** What arrives in a round trip */
  #delivered = 0

  /** The most that has arrived in one, and how many rounds were no better since */
  #most = 0
  #flatRounds = 0

  readonly #burst = new Burst()

  /** The window that the burst asks for */
  #wanted = 0

  /**
   * A round: from a grant to the data behind all that the peer could send without it, its answer. It holds all
   * that was in the queues of the path, also that of other streams. The first one begins with the stream
   */
  #isFirst = true
  #grantedAt: number
  #answerAt: number

  /** The end of the round before */
  #startedAt: number
  #receivedBefore = 0

  /** That round, in ms and bytes */
  #before = { took: 0, received: 0 }

  /** How long the last round took since then, in ms, until it is counted. And whether the reader kept up then */
  #took = 0
  #keptUp = false

  /**
   * `keepsUp`: the reader has taken all that came until now. One that lags behind needs no larger window.
   * `first` is what the peer may send at once, in bytes, and `max` the largest window.
   */
  constructor (now: number, budget: WindowBudget, keepsUp: () => boolean, first = FIRST_WINDOW, max = MAX_WINDOW) {
    this.#startedAt = now
    this.#grantedAt = now
    this.#budget = budget
    this.#keepsUp = keepsUp
    this.#max = max
    this.#target = this.credit = first
    // all of a larger first window has to arrive before anything is an answer
    this.#answerAt = first - (1 - UPDATE) * FIRST_WINDOW
  }

  onData (bytes: number, now: number, roundTrip: RoundTrip): void {
    this.credit -= bytes
    this.#received += bytes

    const answer = this.#received > this.#answerAt ? now - this.#grantedAt : undefined

    if (answer != null) {
      this.#answerAt = Infinity
      this.#took = now - this.#startedAt
      this.#startedAt = now
      this.#keptUp = this.#keepsUp()

      if (!this.#isFirst) {
        // the least window may be more than what fits the path, and cannot be drained
        roundTrip.add(answer, now, roundTrip.isDraining(now) && roundTrip.isDrained(this.#grantedAt) && this.#delivered > 0.75 * this.#target)
      }
    }

    const { ms } = roundTrip

    if (ms == null) {
      return
    }

    // nothing but the window has made the peer wait for this, or it is the first window
    const burst = this.#burst.onData(bytes, now, ms, this.#isFirst ? 0 : answer)

    if (burst != null && this.#flatRounds < FLAT_ROUNDS) {
      this.#wanted = Math.min(STEADY_GAIN * burst.delivered, burst.most)
    }
  }

  /** Whether it is worth to call `onTaken` and `due`. Cheap, for each frame */
  get mayBeDue (): boolean {
    return this.#took > 0 || this.#wanted > 0 || this.due(0) > 0
  }

  /**
   * The reader has taken something. If it has taken a burst at once, the window grows with that.
   *
   * @param now - in ms
   * @param isRead - the stream keeps nothing
   */
  onTaken (now: number, isRead: boolean, roundTrip: RoundTrip): void {
    this.#endRound(roundTrip.isDraining(now), roundTrip.ms)

    if (now - this.#burst.lastAt <= TAKEN_WITHIN && isRead && this.#wanted > this.#target) {
      this.#setDelivered(Math.max(this.#delivered, this.#wanted / STEADY_GAIN))
      this.#resize(this.#wanted)
    }

    this.#wanted = 0
  }

  /**
   * What to tell the peer now, in bytes. 0: nothing yet.
   *
   * @param unread - what has arrived and nobody has read, in bytes
   */
  due (unread: number): number {
    const due = this.#target - this.credit - unread

    return due < Math.max(1, Math.min(this.#target * UPDATE, MOST_DUE)) ? 0 : due
  }

  /** The peer is being told */
  grant (bytes: number, now: number): void {
    if (this.#isFirst || this.#answerAt === Infinity) {
      this.#isFirst = false
      this.#answerAt = this.#received + this.credit
      this.#grantedAt = now
    }

    this.credit += bytes
  }

  /** The peer sends no more */
  end (): void {
    this.#setDelivered(0)
    this.#resize(FIRST_WINDOW)
  }

  /** The message that ended it has come as a whole: a large one counts in full, as its time does */
  #endRound (isDraining: boolean, ms?: number): void {
    const took = this.#took

    if (took === 0) {
      return
    }

    const received = this.#received - this.#receivedBefore
    const before = this.#before

    this.#before = { took, received }
    this.#took = 0
    this.#receivedBefore = this.#received

    // the first data may have come at once
    if (ms == null || took <= (this.#isFirst ? ms : 0)) {
      return
    }

    const rate = received / Math.max(took, ms)
    const rateOfBoth = (before.received + received) / Math.max(before.took + took, ms)
    const delivered = ms * (before.took > STALLED * took ? Math.min(rate, Math.max(rateOfBoth, this.#delivered / ms)) : rate)

    // a reader that lags behind has no use for more
    if (delivered > this.#delivered && !this.#keptUp) {
      return
    }

    if (delivered > this.#most * GROWTH) {
      this.#most = delivered
      this.#flatRounds = 0
    } else {
      this.#flatRounds++
    }

    this.#setDelivered(Math.max(delivered, isDraining ? 0 : this.#remembered))

    const steadyGain = isDraining ? DRAIN_GAIN : STEADY_GAIN
    const isGrowing = this.#flatRounds < FLAT_ROUNDS

    this.#budget.hasStarted ||= !isGrowing

    const { streams, hasStarted } = this.#budget
    const startupGain = hasStarted ? STARTUP_GAIN : TCP_STARTUP_GAIN
    const gain = isGrowing ? startupGain : steadyGain
    const least = Math.min(FIRST_WINDOW, Math.max(LEAST_WINDOW, LEAST_WINDOWS / streams) + this.#delivered * Math.max(LEAST_TIME / ms, steadyGain))
    const startup = streams > 1 || hasStarted ? 0 : Math.min(TCP_STARTUP_WINDOW, this.#delivered * TCP_STARTUP_TIME / ms)
    const fits = Math.max(gain * this.#share, least, startup)

    if (fits <= this.#target || this.#keptUp) {
      this.#resize(fits)
    }
  }

  #setDelivered (bytes: number): void {
    this.#budget.streams += Math.sign(bytes) - Math.sign(this.#delivered)
    this.#budget.delivered += bytes - this.#delivered
    this.#delivered = bytes
  }

  /** What was delivered before and still counts */
  get #remembered (): number {
    const { mean } = this.#budget

    return this.#delivered > mean * GROWTH ? Math.max(mean, this.#delivered * DECAY_ABOVE_MEAN) : this.#delivered * DECAY
  }

  /** What counts as delivered for the window */
  get #share (): number {
    const { mean } = this.#budget
    const delivered = this.#delivered

    return delivered > mean ? delivered - LESS_ABOVE_MEAN * (delivered - mean) : Math.min(mean, MORE_BELOW_MEAN * delivered)
  }

  #resize (wanted: number): void {
    if (wanted > this.#target && this.#budget.isFrozen()) {
      return
    }

    const extra = extraOf(this.#target)
    const target = Math.min(Math.round(wanted), this.#max, FIRST_WINDOW + extra + Math.max(0, this.#budget.left))

    this.#budget.left += extra - extraOf(target)
    this.#target = target
  }
}

/** The first window is each stream's own, also after a smaller one */
function extraOf (window: number): number {
  return Math.max(0, window - FIRST_WINDOW)
}
