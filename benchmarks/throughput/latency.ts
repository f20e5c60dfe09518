import { createHistogram } from 'node:perf_hooks'

/** Microseconds, at percentiles that tell more than an average. */
export interface Latency {
  p50: number
  p90: number
  p99: number
  max: number
}

/**
 * Times operations that follow each other without a pause, in a histogram of
 * high dynamic range (three significant digits). Several stretches of them add up.
 */
export class LatencyRecorder {
  readonly #stretch = createHistogram({ figures: 3 })
  readonly #all = createHistogram({ figures: 3 })
  readonly #batch: number
  #inBatch = 0

  /** @param batch - how many operations make one sample, their average */
  constructor (batch = 1) {
    this.#batch = batch
  }

  /** The first operation of a stretch begins. */
  start (): void {
    this.#fold()
    this.#inBatch = 0
    this.#stretch.recordDelta()
  }

  /** An operation is done, and the next one begins. */
  readonly lap = (): void => {
    this.#inBatch++

    if (this.#inBatch === this.#batch) {
      this.#inBatch = 0
      this.#stretch.recordDelta()
    }
  }

  /** @returns what was seen since this was asked last */
  take (): Latency {
    this.#fold()

    const at = (percent: number): number => this.#all.percentile(percent) / 1_000 / this.#batch
    const latency = { p50: at(50), p90: at(90), p99: at(99), max: this.#all.max / 1_000 / this.#batch }
    this.#all.reset()

    return latency
  }

  /** A histogram that was reset has forgotten when its last operation ended. */
  #fold (): void {
    this.#all.add(this.#stretch)
    this.#stretch.reset()
  }
}
