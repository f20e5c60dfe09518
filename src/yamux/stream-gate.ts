import { raceSignal } from 'race-signal'
import { MAX_EARLY_STREAMS, MAX_UNANSWERED_STREAMS, INBOUND_UPGRADE_TIMEOUT } from '../libp2p.ts'

/**
 * - `early`: the peer may not listen for streams yet
 * - `ready`: it has answered one, or opened one
 * - `open`: the connection is over, so nobody waits any more
 */
type GateState = 'early' | 'ready' | 'open'

/** What a gate needs of a connection */
export interface EndingConnection {
  readonly status: string
  addEventListener(type: 'close', listener: () => void): void
}

/**
 * Bounds how many streams of a connection are opened before the peer has
 * answered. Those beyond the bound wait, in order; the others are not delayed.
 */
export class StreamGate {
  #state: GateState = 'early'

  /** By then the peer listens, or has given up the connection */
  readonly #readyAt = performance.now() + INBOUND_UPGRADE_TIMEOUT
  #opened = 0
  #settled = 0

  /** Exists once somebody has had to wait, and so on few connections */
  #waiting?: Set<() => void>
  #timer?: NodeJS.Timeout

  /** Whose end ends all waiting. Undefined once it is watched: a listener takes more memory than all else here */
  #connection?: EndingConnection

  constructor (connection: EndingConnection) {
    this.#connection = connection
  }

  /** @returns whether a stream can be opened now. If not, wait: {@link enter} */
  tryEnter (): boolean {
    const hasRoom = (this.#waiting?.size ?? 0) === 0 && this.#isPassable()

    if (hasRoom) {
      this.#opened++
    }

    return hasRoom
  }

  /**
   * Wait until a stream can be opened.
   *
   * @throws {unknown} the signal's reason, if it fires first
   */
  async enter (signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()

    this.#waiting ??= new Set()
    this.#waiting.add(resolve)
    this.#watchConnection()

    if (this.#state === 'early') {
      this.#timer ??= setTimeout(() => { this.heard() }, Math.max(0, this.#readyAt - performance.now())).unref()
    }

    try {
      await raceSignal(promise, signal)
    } catch (err) {
      // it may have been let in just before the signal fired
      if (this.#waiting.delete(resolve) === false) {
        this.#opened--
        this.#letIn()
      }

      throw err
    }
  }

  /** The peer has answered a stream, hence it is ready for more */
  answered (): void {
    this.#settled++
    this.heard()
  }

  /** The peer has opened a stream, or answered one that has ended here: it listens */
  heard (): void {
    clearTimeout(this.#timer)

    if (this.#state === 'early') {
      this.#state = 'ready'
    }

    this.#letIn()
  }

  /**
   * A stream ended at this end before the peer has answered. It still counts until
   * the peer is ready: js-libp2p keeps early streams that were reset.
   */
  abandoned (): void {
    this.#settled++
    this.#letIn()
  }

  #watchConnection (): void {
    const connection = this.#connection

    this.#connection = undefined

    if (connection?.status === 'open' || connection?.status === 'closing') {
      connection.addEventListener('close', () => {
        // callers that wait go on, and fail by themselves
        this.#state = 'open'
        this.#letIn()
      })
    } else if (connection != null) {
      this.#state = 'open'
    }

    this.#letIn()
  }

  #isPassable (): boolean {
    switch (this.#state) {
      case 'early': return this.#opened < MAX_EARLY_STREAMS
      case 'ready': return this.#opened - this.#settled < MAX_UNANSWERED_STREAMS
      default: return true
    }
  }

  #letIn (): void {
    for (const enter of this.#waiting ?? []) {
      if (!this.#isPassable()) {
        return
      }

      this.#waiting?.delete(enter)
      this.#opened++
      enter()
    }
  }
}
