import { MAX_FRAME_BYTES } from './frames.ts'

/** What a stream sends before others have their turns, in bytes: what fills a socket */
const TURN_BYTES = 64 * 1024

/**
 * What streams together send while the connection is full, in bytes. It is for streams that had
 * nothing to send before: they need not wait until the connection has drained.
 */
const FULL_BYTES = 32 * 1024

/**
 * How many microtasks a stream has for its next message before its turn is over. An application
 * that awaits `onDrain()` needs some.
 */
const TURN_MICROTASKS = 24

/** A message up to this size is not cut, in bytes: it stays one message for its reader */
const WHOLE_BYTES = 64 * 1024

/** A stream that shares the connection with others. Its numbers are kept by {@link Turns} */
export interface Sender {
  /** How much it has sent in comparison with the others, in bytes */
  served: number

  /** How much more it may send before the others have their turns, in bytes. Less than 0 comes off the next turn */
  allowance: number

  /** Whether it had more to send when it was stopped */
  hasBacklog: boolean

  /** Send what waits, and say that there is room */
  takeTurn(): void
}

/**
 * Shares a connection among its streams by bytes. js-yamux tells all streams at once that the
 * connection has drained. The first to send fills it again, the others find it full, and a
 * stream that was opened after a busy one never sends its second message. libp2p's own ping is
 * such a stream, and libp2p then aborts the connection (js-libp2p#3463, #3504).
 *
 * Here streams take turns: first the one that was served least. A stream that had nothing to send
 * begins where the others are, and one turn ahead. This is start-time fair queueing.
 *
 * @see https://doi.org/10.1145/248157.248171
 */
export class Turns {
  /** The most that a stream should send at a time, in bytes. Undefined while nothing limits it */
  readonly #frameBytes: () => number | undefined

  /** Those that have more to send than they were allowed to, or that wait to hear of room */
  readonly #waiting = new Set<Sender>()

  /** How much the stream was served whose turn it is, in bytes, when the turn began */
  #served = 0

  #isFull = false

  /** Whether it was before the last frame */
  #wasFull = false

  /** Whether turns are being given */
  #isServing = false

  /** What streams may still send while the connection is full, in bytes */
  #fullBytes = FULL_BYTES

  constructor (frameBytes: () => number | undefined) {
    this.#frameBytes = frameBytes
  }

  /** Whether the connection takes no more */
  get isFull (): boolean {
    return this.#isFull
  }

  /**
   * How much of so many bytes this stream may send at a time. With 0 its turn comes later. A
   * large frame would delay all that comes behind it.
   */
  room (sender: Sender, bytes: number): number {
    if (this.#waiting.has(sender)) {
      return 0
    }

    if (sender.allowance <= 0 && !this.#isFull && this.#waiting.size === 0) {
      // nobody else has anything to send
      this.#beginTurn(sender)
    }

    this.#wasFull = this.#isFull

    const room = this.#isFull ? this.#roomWhileFull(sender) : sender.allowance

    if (room <= 0) {
      return 0
    }

    const limit = this.#frameBytes()

    // a message is not cut at the end of a turn, or its reader would get two. The next turn is the shorter
    if (bytes <= (limit ?? WHOLE_BYTES)) {
      return bytes
    }

    return Math.min(limit ?? MAX_FRAME_BYTES, this.#isFull ? room : Infinity)
  }

  onSent (sender: Sender, bytes: number): void {
    sender.served = Math.max(sender.served, this.#served - TURN_BYTES) + bytes
    sender.allowance -= bytes

    if (this.#wasFull) {
      this.#fullBytes -= bytes
    }
  }

  /** The connection takes no more */
  onFull (): void {
    this.#isFull = true
  }

  /** The connection takes more */
  onDrained (): void {
    this.#isFull = false
    this.#fullBytes = FULL_BYTES
    this.#schedule()
  }

  /** Give the stream a turn when the connection takes more */
  wait (sender: Sender): void {
    this.#waiting.add(sender)
    this.#schedule()
  }

  /** The stream sends no more */
  remove (sender: Sender): void {
    this.#waiting.delete(sender)
  }

  /** A window update lets a busy stream go on at once, which would leave nothing for others */
  #roomWhileFull (sender: Sender): number {
    return sender.hasBacklog ? 0 : Math.min(sender.allowance, this.#fullBytes)
  }

  /** Not in the event that says that the connection has drained: first leaves what the encrypter has kept */
  #schedule (): void {
    if (!this.#isServing && !this.#isFull && this.#waiting.size > 0) {
      this.#isServing = true
      queueMicrotask(() => { this.#serve() })
    }
  }

  #serve (): void {
    const next = this.#isFull ? undefined : leastServed(this.#waiting)

    if (next == null) {
      this.#isServing = false
      return
    }

    this.#waiting.delete(next)
    this.#beginTurn(next)
    next.takeTurn()
    this.#watch(next, next.served, TURN_MICROTASKS)
  }

  #beginTurn (sender: Sender): void {
    this.#served = Math.max(this.#served, sender.served)
    sender.allowance = TURN_BYTES + Math.min(0, sender.allowance)
  }

  /** Gives the stream some time, as long as it uses that */
  #watch (sender: Sender, served: number, microtasks: number): void {
    queueMicrotask(() => {
      const isOver = this.#isFull || this.#waiting.size === 0 || this.#waiting.has(sender)

      if (isOver || microtasks === 0) {
        this.#serve()
      } else {
        this.#watch(sender, sender.served, sender.served === served ? microtasks - 1 : TURN_MICROTASKS)
      }
    })
  }
}

function leastServed (senders: Iterable<Sender>): Sender | undefined {
  let least: Sender | undefined

  for (const sender of senders) {
    if (least == null || sender.served < least.served) {
      least = sender
    }
  }

  return least
}
