import { PacedStream } from './paced-stream.ts'
import { isSchedulable } from './schedulable-stream.ts'
import { frameBytes } from './send-pace.ts'
import type { Pacer } from './paced-stream.ts'
import type { SchedulableStream } from './schedulable-stream.ts'
import type { Stream } from '@libp2p/interface'

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

/** What the streams share */
export interface Line {
  /** The most that a stream should send at a time, in bytes */
  readonly frameBytes: number
}

/**
 * Shares a connection among its streams by bytes. js-libp2p tells all streams at once that the
 * connection has drained. The first to send fills it again, the others find it full, and a
 * stream that was opened after a busy one never sends its second message. libp2p's own ping is
 * such a stream, and libp2p then aborts the connection (js-libp2p#3463, #3504).
 *
 * Here streams take turns: first the one that was served least. A stream that had nothing to send
 * begins where the others are, and one turn ahead (start-time fair queueing).
 *
 * @see https://doi.org/10.1145/248157.248171
 */
export class FairStreams implements Pacer {
  readonly #streams: Stream[]
  readonly #line?: Line
  readonly #known = new WeakSet<Stream>()

  /** Those that have more to send than they were allowed to */
  readonly #waiting = new Set<PacedStream>()

  /** The last one that was looked at */
  #newest?: Stream

  /** How many streams take turns */
  #paced = 0

  /** How much the stream was served whose turn it is, in bytes, when the turn began */
  #served = 0

  #isFull = false

  /** Whether it was before the last frame */
  #wasFull = false

  /** Whether turns are being given */
  #isServing = false

  /** What streams may still send while the connection is full, in bytes */
  #fullBytes = FULL_BYTES

  /** `streams` are those of the muxer, which adds new ones at the end */
  constructor (streams: Stream[], line?: Line) {
    this.#streams = streams
    this.#line = line
  }

  get isFull (): boolean {
    return this.#isFull
  }

  /** Look for new streams */
  adopt (): void {
    const streams = this.#streams
    const newest = streams.at(-1)

    if (newest === this.#newest) {
      return
    }

    for (let i = streams.length - 1; i >= 0 && !this.#known.has(streams[i]); i--) {
      const stream = streams[i]

      this.#known.add(stream)

      if (isSchedulable(stream)) {
        this.#add(stream)
      }
    }

    this.#newest = newest
  }

  room (paced: PacedStream, bytes: number): number {
    if (this.#waiting.has(paced)) {
      return 0
    }

    if (paced.allowance <= 0 && !this.#isFull && this.#waiting.size === 0) {
      // nobody else has anything to send
      this.#beginTurn(paced)
    }

    this.#wasFull = this.#isFull

    const room = this.#isFull ? this.#roomWhileFull(paced) : paced.allowance

    if (room <= 0) {
      this.#waiting.add(paced)
      this.#schedule()

      return 0
    }

    const most = this.#line?.frameBytes ?? frameBytes()

    // a message is not cut at the end of a turn, or its reader would get two. The next turn is the shorter
    return bytes <= most ? most : Math.min(room, most)
  }

  /** js-yamux has a stream go on with each window update, so a busy one would leave nothing for others */
  #roomWhileFull (paced: PacedStream): number {
    return paced.hasBacklog ? 0 : Math.min(paced.allowance, this.#fullBytes)
  }

  onSent (paced: PacedStream, bytes: number): void {
    paced.served = Math.max(paced.served, this.#served - TURN_BYTES) + bytes
    paced.allowance -= bytes

    if (this.#wasFull) {
      this.#fullBytes -= bytes
    }
  }

  onFull (): void {
    this.#isFull = true
  }

  onDrained (paced: PacedStream): void {
    this.#isFull = false
    this.#fullBytes = FULL_BYTES

    if (paced.isBlocked) {
      this.#waiting.add(paced)
    }

    this.#schedule()
  }

  onGone (paced: PacedStream): void {
    this.#paced--
    this.#waiting.delete(paced)
  }

  #add (stream: SchedulableStream): void {
    if (this.#paced++ === 0) {
      // there was nobody to be told that the connection has drained
      this.#isFull = false
      this.#fullBytes = FULL_BYTES
    }

    const paced = new PacedStream(stream, this)
    paced.allowance = TURN_BYTES
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

  #beginTurn (paced: PacedStream): void {
    this.#served = Math.max(this.#served, paced.served)
    paced.allowance = TURN_BYTES + Math.min(0, paced.allowance)
  }

  /** Gives the stream some time, as long as it uses that */
  #watch (paced: PacedStream, served: number, microtasks: number): void {
    queueMicrotask(() => {
      const isOver = this.#isFull || this.#waiting.size === 0 || this.#waiting.has(paced)

      if (isOver || microtasks === 0) {
        this.#serve()
      } else {
        this.#watch(paced, paced.served, paced.served === served ? microtasks - 1 : TURN_MICROTASKS)
      }
    })
  }
}

function leastServed (streams: Iterable<PacedStream>): PacedStream | undefined {
  let least: PacedStream | undefined

  for (const stream of streams) {
    if (least == null || stream.served < least.served) {
      least = stream
    }
  }

  return least
}
