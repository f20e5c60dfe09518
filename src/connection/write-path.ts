import { FLUSH_BYTES } from '../constants.ts'
import type { Socket } from 'node:net'
import type { Uint8ArrayList } from 'uint8arraylist'

/** How much memory is taken at a time for copies of small messages, shared by all connections of the process */
const SLAB_BYTES = FLUSH_BYTES

/** What is smaller than this costs less to copy than to hand over as a buffer of its own, in bytes */
const COPY_BYTES = 4 * 1024

/**
 * Gathers what is sent in one tick of the event loop and hands it to the
 * socket in one write, so that a tick costs one system call and, as long as it
 * fits, one segment: with TCP_NODELAY every write would be a segment of its own.
 *
 * Until the flush the bytes are copies, since a caller may reuse its buffer as
 * soon as `send` returns. What is too much to wait is written at once, large
 * buffers without a copy, as `socket.write` does.
 */
export class WritePath {
  readonly #socket: Socket
  readonly #onBacklog: () => void
  #waiting: Uint8Array[] = []
  #waitingBytes = 0
  #flushScheduled = false

  /** `onBacklog` is called whenever the kernel does not take all that it is given at once */
  constructor (socket: Socket, onBacklog: () => void) {
    this.#socket = socket
    this.#onBacklog = onBacklog
  }

  /**
   * Accept all bytes.
   *
   * @returns whether more can be taken now; if not, the socket will emit 'drain'.
   *
   * Node's own answer would be no after every 64 KiB, even if the kernel took
   * them at once. Then a muxer makes all of its streams wait for 'drain', where
   * a busy one gets in first every time, and the others starve for seconds.
   */
  write (data: Uint8ArrayList): boolean {
    if (this.#waitingBytes + data.byteLength + this.#socket.writableLength < FLUSH_BYTES) {
      for (const bytes of data) {
        this.#wait(copy(bytes))
      }

      this.#scheduleFlush()
    } else {
      for (const bytes of data) {
        this.#wait(bytes.byteLength < COPY_BYTES ? copy(bytes) : bytes)
      }

      this.flush()
    }

    return this.#socket.writableLength < this.#socket.writableHighWaterMark
  }

  /** Hand everything that waits to the socket in one write */
  flush (): void {
    const waiting = this.#waiting

    if (waiting.length === 0) {
      return
    }

    this.drop()

    if (waiting.length === 1) {
      this.#socket.write(waiting[0])
    } else {
      this.#socket.cork()

      try {
        for (const bytes of waiting) {
          this.#socket.write(bytes)
        }
      } finally {
        this.#socket.uncork()
      }
    }

    if (this.#socket.writableLength > 0) {
      this.#onBacklog()
    }
  }

  /** Forget everything that waits */
  drop (): void {
    this.#waiting = []
    this.#waitingBytes = 0
  }

  #wait (bytes: Uint8Array): void {
    const last = this.#waiting.at(-1)

    // neighbours in one slab leave as one buffer
    if (last?.buffer === bytes.buffer && last.byteOffset + last.byteLength === bytes.byteOffset) {
      this.#waiting[this.#waiting.length - 1] = new Uint8Array(last.buffer, last.byteOffset, last.byteLength + bytes.byteLength)
    } else {
      this.#waiting.push(bytes)
    }

    this.#waitingBytes += bytes.byteLength
  }

  #scheduleFlush (): void {
    if (this.#flushScheduled) {
      return
    }

    this.#flushScheduled = true

    process.nextTick(() => {
      this.#flushScheduled = false
      this.flush()
    })
  }
}

let slab = new Uint8Array(0)
let slabUsed = 0

function copy (bytes: Uint8Array): Uint8Array {
  if (slab.byteLength - slabUsed < bytes.byteLength) {
    slab = new Uint8Array(Math.max(SLAB_BYTES, bytes.byteLength))
    slabUsed = 0
  }

  const copied = slab.subarray(slabUsed, slabUsed + bytes.byteLength)
  copied.set(bytes)
  slabUsed += bytes.byteLength

  return copied
}
