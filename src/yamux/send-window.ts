/** A ping behind a part takes so many round trips: what is left of the next part keeps the line busy meanwhile, also while TCP repairs a loss */
const ROUND_TRIPS = 1.5

/** Or this long, in ms: TCP takes this long for a loss, and event loops may be late by it */
const LEAST_TIME = 125

/** A ping that takes so many times as long says that there is a queue */
const QUEUED = 2

/** The rate grows if it is so many times what it was */
const GROWTH = 1.25

/** While it grows TCP finds the rate of the path, and the kernel needs more than it can send */
const QUEUED_WHILE_GROWING = 2.5

/** And may have so many times what arrived since the last ping */
const STARTUP_GAIN = 4

/** A ping that takes so many times as long waits until TCP has repaired a loss */
const LATE = 1.75

/** Behind it so many parts may be sent, which keep the line busy meanwhile. With more the next ping would be late, too */
const LATE_PARTS = 1.5

/** A rate that is not reached again is forgotten by this with each ping */
const DECAY = 0.9

/** The least part, in bytes */
const LEAST_PART = 32 * 1024

/** Less than the event loops' own time is no round trip, in ms */
const LEAST_ROUND_TRIP = 5

/** A ping behind no more than this measures the path, not its queues, in bytes */
const NOTHING = 4 * 1024

/** Measure the round trip anew this often while the window is in the way, in ms, since paths change */
const MEASURE_INTERVAL = 30_000

/** But no more often than this, in round trips: the line is idle for one */
const MEASURE_ROUND_TRIPS = 30

/** And after this, in ms, if it is twice what it was */
const MEASURE_AGAIN = 5_000

/** And after this, in ms, the second time, while pings are slow: this host may have been busy the first time */
const MEASURE_SECOND = 2_000

/** Or while pings take so long, in ms: what is taken for the round trip may be wrong */
const SLOW = 1_000

/** Try so many times, each a ping: what the muxer sends for data of the peer cannot be held back */
const MOST_DRAINS = 3

/** Send a ping behind so much, in bytes */
const PING_BYTES = 64 * 1024

/** And no more often, in ms */
const PING_INTERVAL = 50

/**
 * - `starting`: until a ping was slow
 * - `limiting`: the window is what arrives
 * - `ended`: pings are not answered any more, and there is no window
 */
type Phase = 'starting' | 'limiting' | 'ended'

/**
 * Why nothing may be sent before the ping is answered, however large the window is
 *
 * - `late`: while it is starting, the ping is slow, and more behind it would wait longer
 * - `draining`: all must arrive, so that the next ping measures the path
 */
type Pause = 'late' | 'draining'

interface Ping {
  at: number

  /** All that was sent before it */
  sent: number

  /** Whether the window was in the way since the ping before */
  wasFull: boolean

  /** When the first byte since the ping before was sent */
  startedAt: number
}

/**
 * How much a sender may have on its way to the peer. The kernel takes about a megabyte,
 * which nothing that is sent later can pass: not the answer to a ping of the peer, nor a new stream.
 *
 * The answer to a ping says that all that was sent before it has arrived, and how long that took. Behind a ping that
 * was not answered yet a part of the window may be sent, which is what arrives in one and a half round trips. So the
 * window has two parts. There is none as long as pings take no longer than that: a path without a queue has no need of it.
 */
export class SendWindow {
  #part = Infinity
  #phase: Phase = 'starting'
  #pause?: Pause
  #sent = 0

  /** The last one. Answered or not */
  #ping: Ping = { at: -Infinity, sent: 0, startedAt: -Infinity, wasFull: false }
  #isAnswered = true
  #answeredAt = -Infinity

  /** When the first byte behind the last ping was sent */
  #startedAt = -Infinity

  /** What arrives, in bytes a ms: the most of late */
  #rate = 0

  /** What was sent before the ping that was answered last */
  #arrived = 0
  #wasFull = false

  /** Of a ping behind nothing, in ms; with what the peer has in its queues for us. When to measure it next, and the part when it was */
  #roundTrip = Infinity
  #measureAt = -Infinity

  /** The same while pings are slow */
  #measureSlowAt = -Infinity
  #measuredPart = Infinity

  /** How many pings were answered while it is `draining` */
  #drains = 0

  /** `roundTrip` is what was measured until now, in ms */
  constructor (roundTrip?: number, now?: number) {
    if (roundTrip != null && now != null) {
      this.#roundTrip = roundTrip
      this.#measureAt = now + MEASURE_INTERVAL
      this.#measureSlowAt = now + MEASURE_SECOND
    }
  }

  /** Whether no more should be sent before the ping that is on its way is answered, or late */
  isFull (now: number): boolean {
    return !this.#isAnswered && this.#phase !== 'ended' && (this.#pause != null || this.behindPing >= (now < this.lateAt ? 1 : LATE_PARTS) * this.#part)
  }

  /** When a ping that is on its way is late */
  get lateAt (): number {
    return this.#ping.at + LATE * Math.max(this.#time, this.#part / this.#rate)
  }

  /** What the window allows in the long run, in bytes a ms: what arrives, or more. Undefined while there is no limit */
  get rate (): number | undefined {
    return this.#phase === 'limiting' ? Math.max(LEAST_PART / LEAST_TIME, this.#part / this.#time) : undefined
  }

  /** What was sent behind the last ping, in bytes */
  get behindPing (): number {
    return this.#sent - this.#ping.sent
  }

  /** Whether a ping should be sent now */
  needsPing (now: number): boolean {
    const bytes = this.behindPing

    return this.#isAnswered && this.#phase !== 'ended' && (bytes >= this.#part || (bytes >= PING_BYTES && now >= this.#ping.at + PING_INTERVAL))
  }

  onSent (bytes: number, now: number): void {
    if (this.#sent === this.#ping.sent) {
      this.#startedAt = now
    }

    this.#sent += bytes

    if (this.#phase === 'starting' && !this.#isAnswered && now - this.#ping.at > this.#time) {
      this.#pause ??= 'late'
    }

    this.#wasFull ||= this.isFull(now)
  }

  /** A ping was sent. None is on its way */
  onPing (now: number): void {
    this.#ping = { at: now, sent: this.#sent, startedAt: this.#startedAt, wasFull: this.#wasFull }
    this.#isAnswered = false
    this.#wasFull = false
  }

  /**
   * The ping was answered.
   *
   * @returns whether the next one must be sent now, before anything else
   */
  onPong (now: number): boolean {
    if (this.#isAnswered) {
      return false
    }

    const { at, sent, startedAt, wasFull } = this.#ping
    const took = Math.max(now - at, LEAST_ROUND_TRIP)
    const bytes = sent - this.#arrived
    const hasDrained = this.#pause === 'draining' && this.#sent - sent <= NOTHING

    if (bytes <= NOTHING) {
      const isFirst = this.#measureAt === -Infinity
      // the path is longer, or an event loop was late
      const isDoubtful = took > 2 * this.#roundTrip

      this.#roundTrip = took
      this.#measureAt = now + (isDoubtful ? MEASURE_AGAIN : Math.max(MEASURE_INTERVAL, MEASURE_ROUND_TRIPS * took))
      this.#measureSlowAt = isFirst ? now + MEASURE_SECOND : this.#measureAt

      if (this.#phase === 'limiting') {
        this.#part = this.#fitting
      }

      this.#measuredPart = this.#phase === 'starting' ? Infinity : this.#part
    } else {
      this.#roundTrip = Math.min(this.#roundTrip, took)
      this.#resize(bytes, now - Math.max(this.#answeredAt, startedAt), took, wasFull)
    }

    const givesUp = this.#pause === 'draining' && !hasDrained && ++this.#drains >= MOST_DRAINS

    if (givesUp) {
      // what was measured must do for now
      this.#measureAt = this.#measureSlowAt = now + MEASURE_AGAIN
      this.#measuredPart = this.#part
    }

    const mustDrain = !hasDrained && !givesUp && (this.#pause === 'draining' || this.#mustMeasure(now, took, wasFull))

    if (!mustDrain) {
      this.#drains = 0
    }

    this.#isAnswered = true
    this.#pause = mustDrain ? 'draining' : undefined
    this.#answeredAt = now
    this.#arrived = sent

    return hasDrained || mustDrain || this.#wasFull
  }

  /** What arrives in that time, in bytes */
  get #fitting (): number {
    return Math.max(LEAST_PART, this.#rate * this.#time)
  }

  /** What a ping may take, in ms */
  get #time (): number {
    return Math.max(ROUND_TRIPS * this.#roundTrip, LEAST_TIME)
  }

  /** Pings are not answered any more */
  end (): void {
    this.#phase = 'ended'
  }

  /** So many bytes have arrived in so many ms */
  #resize (bytes: number, ms: number, took: number, wasFull: boolean): void {
    const rate = bytes / Math.max(LEAST_ROUND_TRIP, ms)
    const times = took / this.#time
    const isGrowing = rate > this.#rate * GROWTH

    this.#rate = Math.max(rate, (wasFull || times > QUEUED) && this.#pause !== 'draining' ? this.#rate * DECAY : this.#rate)

    if (this.#phase === 'starting') {
      if (times <= (isGrowing ? QUEUED_WHILE_GROWING : QUEUED)) {
        this.#part = times > 1 ? STARTUP_GAIN * bytes : Infinity
        return
      }

      this.#phase = 'limiting'
      this.#measuredPart = this.#measureAt === -Infinity ? Infinity : this.#rate * this.#time
    }

    this.#part = this.#fitting
  }

  #mustMeasure (now: number, took: number, wasFull: boolean): boolean {
    // a smaller window that makes pings no faster is too small: the path is longer, or the peer fills it
    if (this.#phase === 'limiting' && this.#part < this.#measuredPart / 2) {
      return true
    }

    return took > SLOW ? now > this.#measureSlowAt : wasFull && now > this.#measureAt
  }
}
