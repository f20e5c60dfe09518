import { StreamBufferError } from '@libp2p/interface'
import type { Stream } from '@libp2p/interface'

/** Look at what is held after this many bytes: it takes a look at each stream */
const LOOK_BYTES = 1024 * 1024

/** How much the streams of a connection may hold that nobody reads. A peer can open as many as it likes, and fill their windows */
export class UnreadBound {
  readonly #most: number
  #bytes = 0

  /** `most`: in bytes */
  constructor (most: number) {
    this.#most = most
  }

  /**
   * The peer has sent so many bytes.
   *
   * @returns whether this has looked at the streams
   * @throws {StreamBufferError} more is unread
   */
  onReceived (bytes: number, streams: readonly Stream[]): boolean {
    this.#bytes += bytes

    if (this.#bytes < LOOK_BYTES) {
      return false
    }

    this.#bytes = 0

    const unread = streams.reduce((sum, stream) => sum + stream.readBufferLength, 0)

    if (unread > this.#most) {
      throw new StreamBufferError(`${unread} bytes of ${streams.length} streams are unread, and ${this.#most} may be`)
    }

    return true
  }
}
