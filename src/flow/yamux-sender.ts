import { SendWindow } from './send-window.ts'
import type { MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * Without an answer to a ping for so long, in ms, do without a window. A muxer may drop the answers to
 * pings if it has too many of them, as go-yamux does
 */
const UNANSWERED = 10_000

/**
 * Sends frames, and says that the connection is full while too much is on its way to the peer, as it
 * does when the socket is full.
 */
export class YamuxSender {
  readonly #connection: MessageStream
  readonly #send: MessageStream['send']
  readonly #ping: () => Promise<unknown>
  readonly #window: SendWindow

  /** Whether an answer is waited for. One is while the window is full */
  #isPinging = false

  /** Whether the next ping must be sent before anything else */
  #isNextDue = false

  /** Exists while the muxer waits for the window */
  #unanswered?: NodeJS.Timeout

  /**
   * `send` is that of the connection. `ping` sends a ping unless one is on its way, and waits for the
   * answer. `roundTrip` is what was measured until now, in ms.
   */
  constructor (connection: MessageStream, send: MessageStream['send'], ping: () => Promise<unknown>, roundTrip?: number) {
    this.#connection = connection
    this.#send = send
    this.#ping = ping
    this.#window = new SendWindow(roundTrip, performance.now())
  }

  get canSendMore (): boolean {
    return !this.#window.isFull && !this.#connection.writableNeedsDrain
  }

  send (frame: Uint8Array | Uint8ArrayList): boolean {
    // the connection may take the bytes out of a list
    const { byteLength } = frame
    const canSendMore = this.#send(frame)
    const now = performance.now()

    this.#window.onSent(byteLength, now)

    if (this.#window.needsPing(now)) {
      this.#sendPing()
    }

    if (!this.#window.isFull) {
      return canSendMore
    }

    // the ping that is on its way may be the muxer's own
    this.#sendPing()
    this.#wait()

    return false
  }

  /**
   * The connection has drained.
   *
   * @returns whether the muxer may hear of that
   */
  onDrain (): boolean {
    if (this.#window.isFull) {
      this.#wait()

      return false
    }

    this.#endWait()

    return true
  }

  /** The muxer has sent a ping */
  onPing (now: number): void {
    this.#window.onPing(now)
  }

  /** It was answered. The muxer hears of that next */
  onPong (now: number): void {
    this.#isNextDue = this.#window.onPong(now)
    this.#unanswered?.refresh()
  }

  /** Send what the connection takes */
  end (): void {
    this.#window.end()
    this.#goOn()
  }

  #sendPing (): void {
    if (!this.#isPinging) {
      this.#isPinging = true
      // it rejects if the muxer has ended
      this.#ping().then(() => { this.#onAnswer() }, () => {})
    }
  }

  #onAnswer (): void {
    this.#isPinging = false

    if (this.#isNextDue || this.#window.needsPing(performance.now())) {
      this.#isNextDue = false
      this.#sendPing()
    }

    this.#goOn()
  }

  #goOn (): void {
    const { status } = this.#connection

    if (this.#unanswered == null || !this.canSendMore || (status !== 'open' && status !== 'closing')) {
      return
    }

    this.#endWait()

    try {
      this.#connection.dispatchEvent(new Event('drain'))
    } catch (err: any) {
      // nothing can be sent
      this.#connection.abort(err)
    }
  }

  /** The muxer must be told when there is room */
  #wait (): void {
    this.#unanswered ??= setTimeout(() => { this.end() }, UNANSWERED).unref()
  }

  #endWait (): void {
    clearTimeout(this.#unanswered)
    this.#unanswered = undefined
  }
}
