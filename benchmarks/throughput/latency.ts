import { createHistogram } from 'node:perf_hooks'

/**
 * Microseconds, at percentiles that tell more than an average.
 */
export interface Latency {
  p50: number
  p90: number
  p99: number
  max: number
}

/**
 * Times operations that follow each other without a pause, in a histogram of
 * high dynamic range (three significant digits).
 */
export class LatencyRecorder {
  readonly #histogram = createHistogram({ figures: 3 })
  readonly #batch: number
  #inBatch = 0

  /**
   * @param batch - how many operations make one sample, their average
   */
  constructor (batch = 1) {
    this.#batch = batch
    this.#histogram.recordDelta()
  }

  /**
   * An operation is done, and the next one begins.
   */
  readonly lap = (): void => {
    this.#inBatch++

    if (this.#inBatch === this.#batch) {
      this.#inBatch = 0
      this.#histogram.recordDelta()
    }
  }

  latency (): Latency {
    const at = (percent: number): number => this.#histogram.percentile(percent) / 1_000 / this.#batch

    return {
      p50: at(50),
      p90: at(90),
      p99: at(99),
      max: this.#histogram.max / 1_000 / this.#batch
    }
  }
}
