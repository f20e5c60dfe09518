import { MIN_ATTEMPT_DELAY } from './rank.ts'
import type { Attempt } from './attempt.ts'

/** Which attempt of a race is next, and when. Times are those of `performance.now()` */
export class Schedule {
  readonly #began = performance.now()
  #waiting: Attempt[]
  #started = 0
  #lastStart = -Infinity

  /** How many have failed, and were not replaced yet */
  #failed = 0

  /** In their order */
  constructor (attempts: Attempt[]) {
    this.#waiting = [...attempts]
  }

  get waiting (): readonly Attempt[] {
    return this.#waiting
  }

  /** How many were begun */
  get started (): number {
    return this.#started
  }

  /** In ms */
  get age (): number {
    return performance.now() - this.#began
  }

  /** When an attempt may begin, whatever happens */
  get soonest (): number {
    return this.#lastStart + MIN_ATTEMPT_DELAY
  }

  /** When the next one is due, if so many are under way */
  due (underWay: number): number {
    const [{ at }] = this.#waiting

    return this.#failed > 0 || underWay === 0 || at === Infinity ? this.soonest : Math.max(this.soonest, this.#began + at)
  }

  /** The next one begins */
  next (): Attempt {
    this.#started++
    this.#failed = Math.max(0, this.#failed - 1)
    this.#lastStart = performance.now()

    return this.#waiting.shift() as Attempt
  }

  /** One has failed: the next takes its turn */
  fail (): void {
    this.#failed++
  }

  add (...attempts: Attempt[]): void {
    this.#waiting.push(...attempts)
    this.#waiting.sort((one, other) => one.at - other.at)
  }

  /** Nothing more is to begin */
  clear (): void {
    this.#waiting = []
  }
}
