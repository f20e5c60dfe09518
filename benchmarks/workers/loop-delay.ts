import { createHistogram, performance } from 'node:perf_hooks'

/**
 * How late the event loop was, in ms
 */
export interface LoopDelay {
  p50: number
  p99: number
  max: number
}

/** In ms */
const INTERVAL = 2

/**
 * Watches how late a timer is. Unlike that of `monitorEventLoopDelay`, what it has
 * seen in several short stretches adds up: of a stretch that has a hundred turns p99
 * is just the longest. (Node's takes the time between two stretches for a turn.)
 */
export class LoopWatch {
  readonly #histogram = createHistogram()
  #timer?: NodeJS.Timeout

  start (): void {
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
    const late = (microseconds: number): number => microseconds / 1_000
    const { max } = this.#histogram
    const delay = { p50: late(this.#histogram.percentile(50)), p99: late(this.#histogram.percentile(99)), max: late(max) }
    this.#histogram.reset()

    return delay
  }
}
