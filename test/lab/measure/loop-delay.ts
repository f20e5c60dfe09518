import { performance } from 'node:perf_hooks'
import { Percentiles } from './percentiles.ts'
import type { P50AndP99 } from './percentiles.ts'

/** In ms */
const INTERVAL = 2

/**
 * Watches how late a timer is. Unlike that of `monitorEventLoopDelay`, what it has seen in several short stretches adds up: in one of 200
 * ms it sees a hundred delays, of which p99 is just the longest. (Node's takes the time between two stretches for one more.)
 */
export class LoopWatch {
  readonly #delays = new Percentiles()
  #timer?: NodeJS.Timeout

  start (): void {
    this.stop()
    let due = performance.now() + INTERVAL

    this.#timer = setInterval(() => {
      const now = performance.now()
      this.#delays.record(now - due)
      due = now + INTERVAL
    }, INTERVAL)
    this.#timer.unref()
  }

  stop (): void {
    clearInterval(this.#timer)
  }

  /** @returns what was seen since this was asked last */
  take (): P50AndP99 {
    return this.#delays.take()
  }
}
