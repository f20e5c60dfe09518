import { createHistogram, performance } from 'node:perf_hooks'

/**
 * How late the event loop was, in ms
 */
export interface LoopDelay {
  p50: number
  p99: number
}

/** In ms */
const INTERVAL = 2

/**
 * Watches how late a timer is. Unlike that of `monitorEventLoopDelay`, what it has
 * seen in several short stretches adds up: in one of 200 ms it sees a hundred delays,
 * of which p99 is just the longest. (Node's takes the time between two stretches for
 * one more.)
 */
export class LoopWatch {
  readonly #histogram = createHistogram()
  #timer?: NodeJS.Timeout

  start (): void {
    this.stop()
    let due = performance.now() + INTERVAL

    this.#timer = setInterval(() => {
      const now = performance.now()
      // in µs, of which a histogram takes no less than one
      this.#histogram.record(Math.max(1, Math.round((now - due) * 1_000)))
      due = now + INTERVAL
    }, INTERVAL)
    this.#timer.unref()
  }

  stop (): void {
    clearInterval(this.#timer)
  }

  /**
   * @returns what was seen since this was asked last
   */
  take (): LoopDelay {
    const late = (percent: number): number => this.#histogram.percentile(percent) / 1_000
    const delay = { p50: late(50), p99: late(99) }
    this.#histogram.reset()

    return delay
  }
}
