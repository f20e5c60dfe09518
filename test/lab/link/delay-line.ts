import { performance } from 'node:perf_hooks'

/** Of a relay link (direction.ts) and of a proxy link (delay-proxy.ts) */
export interface DelayLineOptions {
  /** Milliseconds that everything is held back, one way. */
  delay: number

  /**
   * Up to this many milliseconds are added to each item at random. Order is kept: a late item holds back those behind it.
   *
   * @default 0
   */
  jitter?: number

  /**
   * A source of numbers from 0 to 1, for jitter that can be repeated.
   *
   * @default Math.random
   */
  random?(): number
}

export interface DelayLineInit<T> extends DelayLineOptions {
  deliver(item: T): void

  /** While this is true nothing is delivered; `wake` looks again. */
  blocked?(): boolean
}

/** Hands over what is pushed into it, late and in order. */
export class DelayLine<T> {
  private readonly init: DelayLineInit<T>
  private readonly queue: Array<{ due: number, item: T }>
  private timer?: NodeJS.Timeout
  private lastDue: number

  constructor (init: DelayLineInit<T>) {
    this.init = init
    this.queue = []
    this.lastDue = 0
  }

  /** The delay begins at `from`, by the clock of `performance.now()` */
  push (item: T, from = performance.now()): void {
    const { delay, jitter = 0, random = Math.random } = this.init

    this.lastDue = Math.max(this.lastDue, from + delay + jitter * random())
    this.queue.push({ due: this.lastDue, item })
    this.wake()
  }

  wake (): void {
    if (this.timer != null || this.queue.length === 0 || this.init.blocked?.() === true) {
      return
    }

    this.timer = setTimeout(() => { this.deliver() }, Math.max(0, this.queue[0].due - performance.now()))
  }

  clear (): void {
    clearTimeout(this.timer)
    this.timer = undefined
    this.queue.length = 0
  }

  private deliver (): void {
    this.timer = undefined

    // timers tick in whole milliseconds: what is due within half of one is due
    while (this.queue.length > 0 && this.queue[0].due <= performance.now() + 0.5 && this.init.blocked?.() !== true) {
      const [{ item }] = this.queue.splice(0, 1)
      this.init.deliver(item)
    }

    this.wake()
  }
}
