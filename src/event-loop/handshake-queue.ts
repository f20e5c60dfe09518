import { Uint8ArrayList } from 'uint8arraylist'
import { setImmediate } from './immediate.ts'

/** A turn hands on a second handshake when the first in the queue has waited for a while: it takes as long as all else in that turn after this many ms */
const PATIENCE = 1_000

/**
 * The first data of a connection belongs to a handshake, whose key exchange takes milliseconds. If
 * many come together, one is handed on at once, and the others in later turns of the event
 * loop. So everything else waits for one handshake, not for all.
 */
export class HandshakeQueue {
  /** First come, first served */
  readonly #waiting = new Set<QueuedHandshake>()

  /** Whether a handshake was handed on in this turn already, or one waits */
  #isTaken = false

  /** When the last handshake that was handed on had been dealt with, by the clock of `performance.now()` */
  #done = 0

  /** @returns whether it was handed on now. If not, {@link add} it */
  tryTake (handOn: () => void): boolean {
    if (this.#isTaken) {
      return false
    }

    this.#isTaken = true
    setImmediate(this.#nextTurn)
    handOn()
    this.#whenDone()

    return true
  }

  add (handshake: QueuedHandshake): void {
    this.#waiting.add(handshake)
  }

  delete (handshake: QueuedHandshake): void {
    this.#waiting.delete(handshake)
  }

  readonly #nextTurn = (): void => {
    const [next] = this.#waiting

    if (next == null) {
      this.#isTaken = false
      return
    }

    const now = performance.now()
    const share = (now - next.since) / PATIENCE

    setImmediate(this.#nextTurn)
    this.#handOnUntil(now + share * (now - this.#done))
  }

  #handOnUntil (deadline: number): void {
    const [next] = this.#waiting

    next?.flush()
    this.#whenDone(() => {
      if (this.#waiting.size > 0 && this.#done < deadline) {
        this.#handOnUntil(deadline)
      }
    })
  }

  /** Call back when everything that has begun so far is done, promises included */
  #whenDone (callback?: () => void): void {
    queueMicrotask(() => {
      process.nextTick(() => {
        this.#done = performance.now()
        callback?.()
      })
    })
  }
}

/** The place of one connection in the queue */
export class QueuedHandshake {
  readonly #queue: HandshakeQueue
  readonly #handOn: (data: Uint8Array) => void
  #data?: Uint8ArrayList
  #after?: () => void
  #since = 0

  /**
   * @param queue - the one of the event loop
   * @param handOn - is given the data, in order. All that waited comes in one call
   */
  constructor (queue: HandshakeQueue, handOn: (data: Uint8Array) => void) {
    this.#queue = queue
    this.#handOn = handOn
  }

  /** How much waits, in bytes */
  get byteLength (): number {
    return this.#data?.byteLength ?? 0
  }

  /** Since when it waits, by the clock of `performance.now()` */
  get since (): number {
    return this.#since
  }

  add (data: Uint8Array): void {
    if (this.#data != null) {
      this.#data.append(data)
    } else if (!this.#queue.tryTake(() => { this.#handOn(data) })) {
      this.#data = new Uint8ArrayList(data)
      this.#since = performance.now()
      this.#queue.add(this)
    }
  }

  /** Call back when the waiting data has been handed on and dealt with */
  after (callback: () => void): void {
    this.#after = callback
  }

  /** Do not wait any longer */
  flush (): void {
    const data = this.#data
    const after = this.#after

    this.drop()

    if (after != null) {
      setImmediate(after)
    }

    if (data != null) {
      this.#handOn(data.subarray())
    }
  }

  /** Forget what waits */
  drop (): void {
    this.#data = undefined
    this.#after = undefined
    this.#queue.delete(this)
  }
}
