import { SendPace, frameBytes } from './send-pace.ts'
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
  readonly #pace = new SendPace()

  /** Whether an answer is waited for. One is while the window is full */
  #isPinging = false

  /** Whether the next ping must be sent before anything else */
  #isNextDue = false

  #isHeld = false

  /** Exists while the muxer waits for the window */
  #unanswered?: NodeJS.Timeout

  /** Exists while the muxer waits for the pace */
  #paced?: NodeJS.Timeout

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

  /** Whether the muxer waits for the window or for the pace, and must be told when it may go on */
  get isHeld (): boolean {
    return this.#isHeld
  }

  /** The most that a stream should send at a time, in bytes */
  get frameBytes (): number {
    return frameBytes(this.#window.rate)
  }

  send (frame: Uint8Array | Uint8ArrayList): boolean {
    // the connection may take the bytes out of a list
    const { byteLength } = frame
    const canSendMore = this.#send(frame)
    const now = performance.now()

    this.#window.onSent(byteLength, now)

    if (this.#window.rate != null) {
      this.#pace.onSent(byteLength, this.#window.rate, now)
    }

    if (this.#window.needsPing(now)) {
      this.#sendPing()
    }

    if (this.#window.isFull) {
      // the ping that is on its way may be the muxer's own
      this.#sendPing()
    }

    if (this.#mustHold(now)) {
      this.#isHeld = true

      return false
    }

    return canSendMore
  }

  /**
   * The connection has drained.
   *
   * @returns whether the muxer may hear of that
   */
  onDrain (): boolean {
    this.#isHeld = this.#mustHold(performance.now())

    return !this.#isHeld
  }

  /** The muxer has sent a ping */
  onPing (now: number): void {
    this.#window.onPing(now)
  }

  /** It was answered. The muxer hears of that next */
  onPong (now: number): void {
    if (this.#window.isFull) {
      this.#pace.restart(now)
    }

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
    const { status, writableNeedsDrain } = this.#connection

    if (!this.#isHeld || this.#mustHold(performance.now()) || writableNeedsDrain || (status !== 'open' && status !== 'closing')) {
      return
    }

    this.#isHeld = false

    try {
      this.#connection.dispatchEvent(new Event('drain'))
    } catch (err: any) {
      // nothing can be sent
      this.#connection.abort(err)
    }
  }

  /** Whether the muxer should wait. Then it is told when it may go on, if it waits */
  #mustHold (now: number): boolean {
    const { isFull } = this.#window
    const wait = isFull ? 0 : this.#pace.wait(now)

    if (isFull) {
      this.#unanswered ??= setTimeout(() => { this.end() }, UNANSWERED).unref()
    } else {
      clearTimeout(this.#unanswered)
      this.#unanswered = undefined
    }

    if (wait > 0) {
      this.#paced ??= setTimeout(() => {
        this.#paced = undefined
        this.#goOn()
      }, Math.ceil(wait)).unref()
    }

    return isFull || wait > 0
  }
}
