import { isUint8ArrayList, Uint8ArrayList } from 'uint8arraylist'
import { COPY_BYTES, CopyRun, newSlab } from '../bytes/copy-run.ts'
import { flushAtEndOfTurn, flushSoon, isExiting } from '../event-loop/flush-soon.ts'
import { hasImmediate } from '../event-loop/immediate.ts'
import { HEADER_BYTES, MAX_FRAME_BYTES, writeHeader } from './frames.ts'
import type { Batcher } from '../event-loop/flush-soon.ts'

const header = new Uint8Array(HEADER_BYTES)

/** Apart from the slab of the sockets: plain data must not share memory with encrypted data */
const slab = newSlab()

export interface OutboxInit {
  /** Sends what was gathered */
  send(bytes: Uint8Array | Uint8ArrayList): void

  /** What a stream sends at a time over a line that is shared, in bytes: no more is gathered. Undefined if there is no limit */
  frameBytes(): number | undefined
}

/** What is gathered of small data, in bytes: the largest frame, which is one message of an encrypter */
const SMALL_BATCH = HEADER_BYTES + MAX_FRAME_BYTES

/** And of large data, which costs less with every message */
const LARGE_BATCH = 4 * SMALL_BATCH

/**
 * - `idle`: nothing was sent in this turn of the event loop
 * - `lazy`: what was gathered leaves at the end of the turn
 * - `soon`: it leaves before anything goes on that is awaited
 * - `soon of lazy`: the same, and the end of the turn is awaited
 * - `late`: the first frames have left, so that the peer wakes up. The rest leaves at the next `flush`, which is due
 */
type State = 'idle' | 'lazy' | 'soon' | 'soon of lazy' | 'late'

/**
 * Gathers the frames of a turn of the event loop, so that they leave in one `send` of the connection: one
 * message of an encrypter, and one write to the socket.
 *
 * Small data is copied, since its owner may reuse the buffer as soon as `send` returns. Large data is not, so it
 * must leave before that: see {@link flushLarge}.
 */
export class Outbox implements Batcher {
  readonly #init: OutboxInit
  #parts: Uint8Array[] = []
  #run?: CopyRun
  #bytes = 0

  /** Whether some data was not copied */
  #isLarge = false
  #state: State = 'idle'

  constructor (init: OutboxInit) {
    this.#init = init
  }

  /** Nobody waits for a frame that is not urgent: it leaves with others, or at the end of the turn */
  add (type: number, flags: number, streamId: number, length: number, data?: Uint8Array | Uint8ArrayList, isUrgent = true): void {
    const bytes = HEADER_BYTES + (data?.byteLength ?? 0)

    if (this.#bytes > 0 && this.#bytes + bytes > this.#limit) {
      this.sendAll()
    }

    this.#schedule(isUrgent)
    writeHeader(header, type, flags, streamId, length)
    this.#copy(header)
    this.#bytes += bytes

    if (isUint8ArrayList(data)) {
      for (const part of data) {
        this.#append(part)
      }
    } else if (data != null) {
      this.#append(data)
    }

    // nothing that waits leaves once the process exits
    if (isExiting()) {
      this.sendAll()
    }
  }

  /**
   * The frames of a message were read, and what they are answered with leaves at once: the peer works while this end
   * returns from all that it was called by. What comes behind it leaves before anything goes on that is awaited.
   */
  answer (): void {
    if (this.#bytes > 0 && (this.#state === 'soon' || this.#state === 'soon of lazy')) {
      this.#state = 'late'
      this.sendAll()
    }
  }

  /** The time has come to send */
  flush (): void {
    if (this.#state === 'soon' && hasImmediate) {
      flushAtEndOfTurn(this)
    }

    this.#state = (this.#state === 'soon' && hasImmediate) || this.#state === 'soon of lazy' ? 'late' : 'idle'
    this.sendAll()
  }

  #schedule (isUrgent: boolean): void {
    const isSoon = isUrgent || !hasImmediate

    if (isSoon && (this.#state === 'idle' || this.#state === 'lazy')) {
      this.#state = this.#state === 'idle' ? 'soon' : 'soon of lazy'
      flushSoon(this)
    } else if (this.#state === 'idle') {
      this.#state = 'lazy'
      flushAtEndOfTurn(this)
    }
  }

  /** Send what was gathered now */
  sendAll (): void {
    if (this.#bytes > 0) {
      this.#endRun()

      const parts = this.#parts

      this.#parts = []
      this.#bytes = 0
      this.#isLarge = false
      this.#init.send(parts.length === 1 ? parts[0] : new Uint8ArrayList(...parts))
    }
  }

  /** Send what its owner may change next */
  flushLarge (): void {
    if (this.#isLarge) {
      this.sendAll()
    }
  }

  /** Send nothing of what was gathered */
  clear (): void {
    this.#parts = []
    this.#run = undefined
    this.#bytes = 0
    this.#isLarge = false
  }

  get #limit (): number {
    const frameBytes = this.#init.frameBytes()

    if (frameBytes != null) {
      return HEADER_BYTES + frameBytes
    }

    return this.#isLarge ? LARGE_BATCH : SMALL_BATCH
  }

  #append (bytes: Uint8Array): void {
    if (bytes.byteLength < COPY_BYTES) {
      this.#copy(bytes)
    } else {
      this.#endRun()
      this.#parts.push(bytes)
      this.#isLarge = true
    }
  }

  #copy (bytes: Uint8Array): void {
    if (this.#run?.append(bytes) !== true) {
      this.#endRun()
      this.#run = new CopyRun(slab, bytes)
    }
  }

  #endRun (): void {
    if (this.#run != null) {
      this.#parts.push(this.#run.bytes)
      this.#run = undefined
    }
  }
}
