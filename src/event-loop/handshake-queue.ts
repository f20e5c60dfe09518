import { Uint8ArrayList } from 'uint8arraylist'
import { setImmediate } from './immediate.ts'

/** First come, first served */
const waiting = new Set<QueuedHandshake>()

/** How long a turn hands on handshakes, as a share of the time that everything else in that turn took */
const SHARE = 1 / 4

/** The share grows while the first in the queue waits: it is 1 after this many ms, and 2 after twice as long */
const PATIENCE = 1_000

/** Whether a handshake was handed on in this turn already, or one waits */
let isTaken = false

/** When the last handshake that was handed on had been dealt with, by the clock of `performance.now()` */
let done = 0

/**
 * The place of one connection in the queue of the process. The first data of a connection
 * belongs to a handshake, whose key exchange takes milliseconds. If many come together, one
 * is handed on at once, and the others in later turns of the event loop. So everything else
 * waits for one handshake, not for all. A turn hands on one, and more while they take a small
 * share of the turn: see {@link SHARE}.
 */
export class QueuedHandshake {
  readonly #handOn: (data: Uint8Array) => void
  #data?: Uint8ArrayList
  #after?: () => void
  #since = 0

  /**
   * @param handOn - is given the data, in order. All that waited comes in one call
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

/** Call back when everything that has begun so far is done, promises included */
function whenDone (callback?: () => void): void {
  queueMicrotask(() => {
    process.nextTick(() => {
      done = performance.now()
      callback?.()
    })
  })
}
