import { setImmediate } from '../event-loop/immediate.ts'

export interface KeptFinInit {
  /** Whether the two ends have agreed on the protocol of the stream */
  isAgreed(): boolean

  /** Whether libp2p still waits to send its answer to a proposal */
  mayStillAgree(): boolean

  /** Whether somebody reads the stream, or waits for the end of what the peer sends */
  isReading(): boolean

  /** Whether our end was closed a turn ago: its closer may listen by now */
  isSettled(): boolean

  /** Whether the application listens for the end of the stream */
  isEndHeard(): boolean

  /** The stream has its FIN from now on. `hasTransportClosed`: and the connection has ended since */
  tell(hasTransportClosed: boolean): void
}

/**
 * - `negotiating`: FIN came while libp2p may still be at work on the protocol, or waits to answer
 * - `kept`: nobody listens to the stream yet
 * - `told`: the stream has its FIN
 */
type State = 'negotiating' | 'kept' | 'told'

/**
 * The peer's FIN, kept until somebody listens to the stream. libp2p attaches the handler of a
 * protocol only after its peer store has answered. An application may listen only after `await close()`. The base class
 * reports FIN once, and a handler that begins later would never learn of it.
 *
 * FIN is kept until somebody reads, or a turn after our own end was closed.
 */
export class KeptFin {
  readonly #init: KeptFinInit
  #state: State = 'kept'

  /** The end of the connection comes behind FIN, also if that is kept */
  #hasTransportClosed = false

  constructor (init: KeptFinInit) {
    this.#init = init

    if (!init.isAgreed()) {
      // what has come suffices to agree on the protocol in this turn, or never will
      this.#state = 'negotiating'
      setImmediate(() => { this.#onTurn() })
    }
  }

  get isKept (): boolean {
    return this.#state === 'kept'
  }

  /** Something has changed */
  look (): void {
    const { isEndHeard, isReading, isSettled } = this.#init

    if (this.isKept && (isReading() || isSettled() || (this.#hasTransportClosed && isEndHeard()))) {
      this.#tell()
    } else if (this.#state === 'negotiating' && this.#isWaiting) {
      // libp2p could send its answer
      this.#isWaiting = false
      setImmediate(() => { this.#onTurn() })
    }
  }

  /** @returns whether the stream is told later */
  onTransportClosed (): boolean {
    const isLater = this.#state === 'negotiating' || (this.isKept && !this.#init.isEndHeard())

    this.#hasTransportClosed ||= isLater

    if (!isLater) {
      this.#tell()
    }

    return isLater
  }

  /** Whether libp2p waits until it can send its answer */
  #isWaiting = false

  #onTurn (): void {
    const { isAgreed, mayStillAgree } = this.#init

    if (this.#state !== 'negotiating') {
      return
    }

    if (isAgreed()) {
      this.#state = 'kept'
      this.look()
    } else if (mayStillAgree()) {
      this.#isWaiting = true
    } else {
      this.#tell()
    }
  }

  #tell (): void {
    if (this.#state !== 'told') {
      this.#state = 'told'
      this.#init.tell(this.#hasTransportClosed)
    }
  }
}
