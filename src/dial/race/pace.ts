import { MIN_ATTEMPT_DELAY } from '../stagger.ts'
import { startTimes } from './ranking.ts'

/** When the attempts of a race are due, by the clock of `performance.now()` */
export class Pace {
  readonly #began = performance.now()
  readonly #times: number[]
  #started = 0
  #lastStart = -Infinity

  /** How many have failed, and were not replaced yet */
  #failed = 0

  constructor (addresses: number, delay: number) {
    this.#times = startTimes(addresses, delay)
  }

  /** How many attempts have begun */
  get started (): number {
    return this.#started
  }

  /** In ms */
  get age (): number {
    return performance.now() - this.#began
  }

  /** The next attempt begins */
  start (): void {
    this.#started++
    this.#failed = Math.max(0, this.#failed - 1)
    this.#lastStart = performance.now()
  }

  /** An attempt has failed: another takes its turn */
  fail (): void {
    this.#failed++
  }

  /** When an attempt may begin, whatever happens */
  get soonest (): number {
    return this.#lastStart + MIN_ATTEMPT_DELAY
  }

  /** When the next attempt is due, if so many are under way */
  due (underWay: number): number {
    if (this.#failed > 0 || underWay === 0 || this.#started >= this.#times.length) {
      return this.soonest
    }

    return Math.max(this.soonest, this.#began + this.#times[this.#started])
  }
}
