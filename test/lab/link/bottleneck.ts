import type { BottleneckShape } from './link.ts'

/** When each packet leaves a line of a rate, behind a drop-tail queue */
export class Bottleneck {
  readonly #queue: number
  readonly #bytesPerMs: number

  /** When all that was taken has left */
  #idleFrom = 0

  constructor ({ rate, queue }: BottleneckShape) {
    this.#queue = queue
    this.#bytesPerMs = rate * 125
  }

  /**
   * @returns when the last byte of a packet that comes now has left, in ms; undefined if the queue is full
   */
  departure (bytes: number, now: number): number | undefined {
    const start = Math.max(now, this.#idleFrom)

    if ((start - now) * this.#bytesPerMs + bytes > this.#queue) {
      return undefined
    }

    this.#idleFrom = start + bytes / this.#bytesPerMs

    return this.#idleFrom
  }
}
