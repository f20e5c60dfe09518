const BUCKETS = 60_000

/** Counts many times in whole ms, in little memory. */
export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS)
  #total = 0

  add (ms: number): void {
    this.#counts[Math.min(BUCKETS - 1, Math.max(0, Math.round(ms)))]++
    this.#total++
  }

  /** The least time that so many per cent do not exceed, in ms; 0 of none */
  percentile (percent: number): number {
    const rank = this.#total * percent / 100
    let passed = 0

    for (let ms = 0; ms < BUCKETS && this.#total > 0; ms++) {
      passed += this.#counts[ms]

      if (passed >= rank && passed > 0) {
        return ms
      }
    }

    return 0
  }
}
