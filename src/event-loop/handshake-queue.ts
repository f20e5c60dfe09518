import { Uint8ArrayList } from 'uint8arraylist'

// a test that replaces it must not stop all connections of the process
const { setImmediate } = globalThis

/** First come, first served */
const waiting = new Set<QueuedHandshake>()

/** For how long handshakes are handed on in a turn, as a part of the time that all else in that turn took */
const SHARE = 1 / 4

/** That part is 1 when the first in the queue has waited for so many ms, and 2 after twice as long */
const PATIENCE = 1_000

/** Whether something was handed on already in this turn, or waits */
let isTaken = false

/** When what was handed on last had been dealt with, by the clock of `performance.now()` */
let done = 0

/**
 * The place of one connection in the queue of the process. What comes first on a
 * connection belongs to a handshake, and that takes milliseconds of key exchange. Of many
 * that come together one is handed on at once, and the others in later turns of the event
 * loop. So all else waits for one handshake, not for all of them. A turn hands on one, or
 * more while they take little of what all else in that turn took.
 */
export class QueuedHandshake {
  readonly #handOn: (data: Uint8Array) => void
  #data?: Uint8ArrayList
  #after?: () => void
  #since = 0

  /**
   * @param handOn - is given what came, in order, and all that waited at once
   */
  constructor (handOn: (data: Uint8Array) => void) {
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
    } else if (isTaken) {
      this.#data = new Uint8ArrayList(data)
      this.#since = performance.now()
      waiting.add(this)
    } else {
      isTaken = true
      setImmediate(nextTurn)
      this.#handOn(data)
      whenDone()
    }
  }

  /** Do this when what waits was handed on and has been dealt with */
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
    waiting.delete(this)
  }
}

function nextTurn (): void {
  const [next] = waiting

  if (next == null) {
    isTaken = false
    return
  }

  const now = performance.now()
  const share = Math.max(SHARE, (now - next.since) / PATIENCE)

  setImmediate(nextTurn)
  handOnUntil(now + share * (now - done))
}

function handOnUntil (deadline: number): void {
  const [next] = waiting

  next?.flush()
  whenDone(() => {
    if (waiting.size > 0 && done < deadline) {
      handOnUntil(deadline)
    }
  })
}

/** When all that has begun so far is done, promises included */
function whenDone (callback?: () => void): void {
  queueMicrotask(() => {
    process.nextTick(() => {
      done = performance.now()
      callback?.()
    })
  })
}
