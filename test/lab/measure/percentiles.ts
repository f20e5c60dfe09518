import { createHistogram } from 'node:perf_hooks'

/** In ms */
export interface P50AndP99 {
  p50: number
  p99: number
}

export class Percentiles {
  readonly #histogram = createHistogram({ figures: 3 })

  record (milliseconds: number): void {
    // in µs, of which a histogram takes no less than one
    this.#histogram.record(Math.max(1, Math.round(milliseconds * 1_000)))
  }

  /** @returns those of what was recorded since this was asked last */
  take (): P50AndP99 {
    const [p50, p99] = [50, 99].map(percent => this.#histogram.percentile(percent) / 1_000)
    this.#histogram.reset()

    return { p50, p99 }
  }
}
