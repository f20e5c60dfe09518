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
 * Sends frames, and says that the connection is full while too much is on its way to the peer, or
 * more than fits the line was sent just now, as it does when the socket is full.
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

  /** Whether the muxer was told that the connection is full, and must be told when it is not */
  #isHeld = false

  /** Exists while the window is full */
  #unanswered?: NodeJS.Timeout

  /** Exists while the muxer waits for the pace, or for a late ping, until that time */
  #waiting?: NodeJS.Timeout
  #waitingUntil = 0

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

  /** Whether less is sent than the socket takes */
  get isLimiting (): boolean {
    return this.#window.rate != null
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
    const { rate } = this.#window

    this.#window.onSent(byteLength, now)

    if (rate != null) {
      this.#pace.onSent(byteLength, rate, now)
    }

    if (this.#window.needsPing(now)) {
      this.#sendPing()
    }

    if (this.#window.isFull(now)) {
      // the ping that is on its way may be the muxer's own
      this.#sendPing()
    }

    return !this.#hold(now) && canSendMore
  }

  /**
   * The connection has drained.
   *
   * @returns whether the muxer may hear of that
   */
  onDrain (): boolean {
    const mayHear = !this.#hold(performance.now())

    if (mayHear) {
      this.#isHeld = false
    }

    return mayHear
  }

  /** The muxer has sent a ping */
  onPing (now: number): void {
    this.#window.onPing(now)
  }

  /** It was answered. The muxer hears of that next */
  onPong (now: number): void {
    const { behindPing, rate } = this.#window

    if (rate != null) {
      this.#pace.onArrived(behindPing, this.#window.isFull(now), rate, now)
    }

    this.#isNextDue = this.#window.onPong(now)
    this.#unanswered?.refresh()
  }

  /** Send what the connection takes */
  end (): void {
    this.#window.end()
    clearTimeout(this.#waiting)
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

    if (!this.#isHeld || this.#hold(performance.now()) || writableNeedsDrain || (status !== 'open' && status !== 'closing')) {
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

  /**
   * Sets timers for when nothing else tells the muxer to go on.
   *
   * @returns whether it has to wait
   */
  #hold (now: number): boolean {
    const isFull = this.#window.isFull(now)
    const wait = this.#wait(isFull, now)

    if (isFull) {
      this.#unanswered ??= setTimeout(() => { this.end() }, UNANSWERED).unref()
    } else {
      clearTimeout(this.#unanswered)
      this.#unanswered = undefined
    }

    if (wait > 0) {
      this.#goOnAt(now + wait, wait)
    }

    this.#isHeld ||= isFull || wait > 0

    return isFull || wait > 0
  }

  /** How long, in ms. 0 if only the answer to a ping ends it, or nothing has to wait */
  #wait (isFull: boolean, now: number): number {
    const { lateAt, rate } = this.#window

    if (rate == null) {
      return 0
    }

    return isFull ? lateAt - now : this.#pace.wait(rate, now)
  }

  #goOnAt (until: number, ms: number): void {
    // one that comes too early looks again
    if (this.#waiting != null && until > this.#waitingUntil - 1) {
      return
    }

    clearTimeout(this.#waiting)
    this.#waitingUntil = until
    this.#waiting = setTimeout(() => {
      this.#waiting = undefined
      this.#pace.onTimer(performance.now() - until)
      this.#goOn()
    }, Math.ceil(ms)).unref()
  }
}
