import { Uint8ArrayList } from 'uint8arraylist'

/** Whoever waits, first come first served */
const waiting = new Set<InTurn>()

/** Whether somebody's work was done since the event loop last looked for input */
let isTaken = false

/**
 * What comes first on a connection is a handshake, which takes milliseconds of
 * key exchange. Of many that arrive together one is taken at once and the others
 * in a turn of the event loop each, so that whatever else the process does has
 * to wait for one handshake and not for all of them.
 */
export class InTurn {
  readonly #receive: (data: Uint8Array) => void
  #data?: Uint8ArrayList

  /**
   * @param receive - is given what came, in order, and all that waited at once
   */
  constructor (receive: (data: Uint8Array) => void) {
    this.#receive = receive
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
      this.#receive(data)
    }
  }

  /** Do not wait any longer, for instance because nothing will follow */
  flush (): void {
    const data = this.#data

    if (data != null) {
      this.drop()
      this.#receive(data.subarray())
    }
  }

  /** Forget what waits */
  drop (): void {
    this.#data = undefined
    waiting.delete(this)
  }
}

function nextTurn (): void {
  const [next] = waiting

  if (next == null) {
    isTaken = false
    return
  }

  setImmediate(nextTurn)
  next.flush()
}
