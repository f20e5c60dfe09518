import { Uint8ArrayList } from 'uint8arraylist'

// whoever replaces it for a test must not stop all connections of the process
const { setImmediate } = globalThis

/** Whoever waits, first come first served */
const waiting = new Set<InTurn>()

/** How much of a turn it may take, as a part of all else that the turn did */
const SHARE = 1 / 4

/** Whether something was handed on already in this turn, or waits */
let isTaken = false

/** When what was handed on last had been dealt with, by the clock of `performance.now()` */
let done = 0

/**
 * What comes first on a connection belongs to a handshake, and that takes
 * milliseconds of key exchange. Of many that come together one is handed on at
 * once and the others in later turns of the event loop, so that all else waits
 * for one handshake and not for all of them: one a turn, or more of them while
 * they take less than a quarter of what everything else in that turn took.
 */
export class InTurn {
  readonly #handOn: (data: Uint8Array) => void
  #data?: Uint8ArrayList
  #after?: () => void

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

  add (data: Uint8Array): void {
    if (this.#data != null) {
      this.#data.append(data)
    } else if (isTaken) {
      this.#data = new Uint8ArrayList(data)
      waiting.add(this)
    } else {
      isTaken = true
      setImmediate(nextTurn)
      this.#handOn(data)
      whenDone(() => {})
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

    if (data != null) {
      this.drop()
      this.#handOn(data.subarray())
    }

    if (after != null) {
      setImmediate(after)
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
  if (waiting.size === 0) {
    isTaken = false
    return
  }

  const now = performance.now()

  setImmediate(nextTurn)
  handOnUntil(now + SHARE * (now - done))
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

/** When all is done that was set off in this turn, by promises too */
function whenDone (callback: () => void): void {
  queueMicrotask(() => {
    process.nextTick(() => {
      done = performance.now()
      callback()
    })
  })
}
