/** Measure anew this often, in ms, since paths change */
const INTERVAL = 30_000

/** For this many round trips less is in flight then */
const DRAIN_ROUND_TRIPS = 6

/** After this many the queues are empty */
const DRAINED_ROUND_TRIPS = 2

/** Less than this is the event loops' own time, in ms */
const MIN_ROUND_TRIP = 5

/**
 * The least round trip of a path, in ms. More than that is time in queues, and they are mostly
 * full of what this end has asked for.
 */
export class RoundTrip {
  #least = Infinity

  /** The least while the queues were empty */
  #drained = Infinity

  /** When to empty them next */
  #drainAt = 0

  /** Undefined until something was measured */
  get ms (): number | undefined {
    return this.#least === Infinity ? undefined : Math.max(this.#least, MIN_ROUND_TRIP)
  }

  /** `isDrained`: it began when the queues were empty */
  add (ms: number, now: number, isDrained = false): void {
    if (this.#least === Infinity) {
      this.#drainAt = now + INTERVAL
    }

    this.#least = Math.min(this.#least, ms)

    if (isDrained) {
      this.#drained = Math.min(this.#drained, ms)
    }
  }

  /** Whether queues should become empty now, because the round trip is being measured */
  isDraining (now: number): boolean {
    const { ms = 0 } = this

    if (now < this.#drainAt || now < this.#drainAt + DRAIN_ROUND_TRIPS * ms) {
      return now >= this.#drainAt
    }

    if (this.#drained !== Infinity) {
      this.#least = this.#drained
      this.#drained = Infinity
    }

    this.#drainAt = now + INTERVAL

    return false
  }

  isDrained (now: number): boolean {
    return now >= this.#drainAt + DRAINED_ROUND_TRIPS * (this.ms ?? 0)
  }
}
