/** Remind of one stream this often, in ms. What it sends makes the others wait again, so two at a time would be one too many */
export const REMINDER_INTERVAL = 10

/** Of a stream so long after it has brought something, in ms, then after twice as long each time, up to the latter */
const FIRST = 20
const LONGEST = 1_000

/** A stream that brings more than this at once, in bytes, is an upload itself: a reminder would let it pass the others */
const BUSY = 16 * 1024

/** Or more than this all the time, in bytes a ms */
const BUSY_RATE = 2

/** What it has brought counts for so long, in ms: then it may have become a dialogue */
const LONGEST_BUSY = 5_000

/** The peer uploads no more if it sends less than this, in bytes, in this time, in ms */
const QUIET = 16 * 1024
const QUIET_TIME = 1_000

interface Reminder {
  /** When, and how long after the one before, in ms */
  at: number
  interval: number

  /** What the stream has brought of late, and when it brought the last */
  bytes: number
  lastAt: number
}

/**
 * Of which streams a peer that uploads is to be reminded, and when.
 *
 * In js-libp2p a connection that is full makes all streams wait, and when it has drained the first to send fills it again.
 * That is the one which uploads, and a younger stream never sends its second message. But js-yamux also
 * sends what waits on a stream when a window update comes for it, be it one of 0 bytes.
 */
export class Reminders<Stream> {
  readonly #streams = new Map<Stream, Reminder>()
  #bytes = 0
  #lookAt: number

  constructor (now: number) {
    this.#lookAt = now + QUIET_TIME
  }

  /** A message of the peer has come */
  onMessage (bytes: number): void {
    this.#bytes += bytes
  }

  /** The peer has sent something on a stream: so much data, or 0 */
  onFrame (stream: Stream, bytes: number, now: number): void {
    const { bytes: before, lastAt } = this.#streams.get(stream) ?? { bytes: 0, lastAt: now }
    const late = Math.min(Math.max(0, before - (now - lastAt) * BUSY_RATE) + bytes, BUSY + LONGEST_BUSY * BUSY_RATE)

    this.#streams.set(stream, { at: now + Math.max(FIRST, (late - BUSY) / BUSY_RATE), interval: FIRST, bytes: late, lastAt: now })
  }

  end (stream: Stream): void {
    this.#streams.delete(stream)
  }

  /** @returns the stream that the peer is to be reminded of now */
  next (now: number): Stream | undefined {
    let next: [stream: Stream, Reminder] | undefined

    for (const entry of this.#streams) {
      if (entry[1].at <= (next?.[1].at ?? now)) {
        next = entry
      }
    }

    if (next == null) {
      return undefined
    }

    const [stream, reminder] = next

    reminder.interval = Math.min(2 * reminder.interval, LONGEST)
    reminder.at = now + reminder.interval

    return stream
  }

  /** Whether the peer uploads no more */
  isOver (now: number): boolean {
    if (now < this.#lookAt) {
      return false
    }

    const isQuiet = this.#bytes < QUIET

    this.#bytes = 0
    this.#lookAt = now + QUIET_TIME

    return isQuiet
  }
}
