import { SendPace, frameBytes } from './send-pace.ts'
import { SendWindow } from './send-window.ts'

/** A ping that is not answered for so long measures nothing, in ms: there is no window until one is answered again */
const UNANSWERED = 2_000

/** Unless the peer still reads what was sent before: it says so at least this often, in ms */
const READING = 1_000

/** But not longer than this, in ms. A peer may drop pings if it has too many of them, as go-yamux does */
const GIVE_UP = 10_000

/** A peer whose answers come too late so many times is not measured any more */
const MOST_GONE = 2

export interface LineInit {
  /** Sends a ping behind all that was sent, unless one is on its way */
  ping(): void

  /** More may be sent */
  onRoom(): void
}

/**
 * How much is on its way to the peer, and how fast it is sent: no more than fits the line. The kernel takes a
 * megabyte ahead of it, which no stream can pass.
 *
 * Pings measure the line, see {@link SendWindow}. What the window allows is spread by {@link SendPace}.
 */
export class Line {
  readonly #init: LineInit
  #window: SendWindow
  readonly #pace = new SendPace()

  /** Whether the muxer was told to wait, and must be told when it may go on */
  #isHeld = false

  /** When the ping was sent that is on its way, and when the peer last said that it has read something */
  #pingedAt = Infinity
  #readAt = -Infinity

  /** Whether there is no window until a ping is answered, and how often there was none */
  #isGone = false
  #timesGone = 0

  /** Exists while the muxer waits, until that time */
  #timer?: ReturnType<typeof setTimeout>
  #timerAt = 0

  /** `roundTrip` is what was measured until now, in ms */
  constructor (init: LineInit, roundTrip?: number) {
    this.#init = init
    this.#window = new SendWindow(roundTrip, performance.now())
  }

  /** The most that a stream should send at a time, in bytes. Undefined while less is sent than the line takes */
  get frameBytes (): number | undefined {
    const { rate } = this.#window

    return rate == null ? undefined : frameBytes(rate)
  }

  /**
   * So many bytes were sent.
   *
   * @returns whether more may be sent now
   */
  onSent (bytes: number): boolean {
    const now = performance.now()
    const { rate } = this.#window

    this.#window.onSent(bytes, now)

    if (rate != null) {
      this.#pace.onSent(bytes, rate, now)
    }

    if (this.#window.needsPing(now)) {
      this.#init.ping()
    }

    const isOpen = this.#isOpen()

    // it stays held until it is told to go on
    this.#isHeld ||= !isOpen

    return isOpen
  }

  /** A ping was sent: of the muxer's own, or because this asked for it */
  onPing (now: number): void {
    this.#pingedAt = now
    this.#window.onPing(now)
  }

  /** It was answered */
  onPong (now: number): void {
    if (this.#isGone && this.#timesGone < MOST_GONE) {
      // the peer answers again
      this.#isGone = false
      this.#window = new SendWindow()
    }

    const { behindPing, rate } = this.#window

    this.#pingedAt = Infinity

    if (rate != null) {
      this.#pace.onArrived(behindPing, this.#window.isFull(now), rate, now)
    }

    const isNextDue = this.#window.onPong(now)

    if (isNextDue || this.#window.needsPing(now)) {
      this.#init.ping()
    }

    this.#goOn()
  }

  /** The peer lets streams send more, so it has read something */
  onRead (): void {
    this.#readAt = performance.now()
  }

  /**
   * The connection has drained.
   *
   * @returns whether more may be sent now. If not, `onRoom` is called when it may
   */
  onDrain (): boolean {
    this.#isHeld = !this.#isOpen()

    return !this.#isHeld
  }

  /** Nothing is sent any more */
  end (): void {
    clearTimeout(this.#timer)
    this.#window.end()
  }

  /** How long nothing should be sent, in ms. The answer to the ping may come before */
  #wait (now: number): number {
    const { rate, lateAt } = this.#window

    if (!this.#window.isFull(now)) {
      return rate == null ? 0 : this.#pace.wait(rate, now)
    }

    const overdueAt = Math.min(Math.max(this.#pingedAt + UNANSWERED, this.#readAt + READING), this.#pingedAt + GIVE_UP)

    if (now >= overdueAt) {
      this.#isGone = true
      this.#timesGone++
      this.#window.end()

      return 0
    }

    return Math.max(1, Math.min(overdueAt, rate != null && lateAt > now ? lateAt : Infinity) - now)
  }

  /** Sets a timer for when nothing else tells the muxer to go on */
  #isOpen (): boolean {
    const now = performance.now()
    const wait = this.#wait(now)

    if (wait > 0) {
      this.#lookAt(now + wait, wait)
    }

    return wait === 0
  }

  #goOn (): void {
    if (this.#isHeld && this.#isOpen()) {
      this.#isHeld = false
      this.#init.onRoom()
    }
  }

  #lookAt (at: number, ms: number): void {
    // one that comes too early looks again
    if (this.#timer != null && at > this.#timerAt - 1) {
      return
    }

    clearTimeout(this.#timer)
    this.#timerAt = at
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#pace.onTimer(performance.now() - at)
      this.#goOn()
    }, Math.ceil(ms))
    // browsers have numbers
    ;(this.#timer as Partial<NodeJS.Timeout>).unref?.()
  }
}
