import { Uint8ArrayList } from 'uint8arraylist'
import { areTooMany } from './chunks.ts'
import { InvalidFrameError } from './errors.ts'
import { FrameType, HEADER_BYTES, readHeader } from './frames.ts'
import type { FrameHeader } from './frames.ts'

export interface Frame extends FrameHeader {
  /** Exists in a frame of data, unless it was skipped */
  data?: Uint8ArrayList
}

export interface DecoderListener {
  /**
   * The header of a frame of data has come. Throw if there is too much.
   *
   * @returns whether to keep the data. If not, it is skipped
   */
  onDataHeader(header: FrameHeader): boolean

  /** So many bytes of its data have come */
  onPart(streamId: number, bytes: number): void
}

/**
 * Finds the frames in what a peer sends, wherever it is cut. A frame of data is kept until it is whole, so
 * that a message of the sender stays one message.
 */
export class Decoder {
  readonly #listener: DecoderListener

  readonly #chunks: Uint8Array[] = []

  /** What was taken of the first chunk, and what is left of all, in bytes */
  #at = 0
  #left = 0

  /** The header of a frame of data that is not whole, and how much of its data has come, in bytes */
  #header?: FrameHeader
  #part = 0

  /** How much of a frame of data is still to be skipped, in bytes */
  #skipped = 0

  constructor (listener: DecoderListener) {
    this.#listener = listener
  }

  push (data: Uint8Array | Uint8ArrayList): void {
    if (data instanceof Uint8Array) {
      this.#push(data)
      return
    }

    for (const chunk of data) {
      this.#push(chunk)
    }
  }

  /**
   * @returns the next whole frame, if there is one
   * @throws {InvalidFrameError} the version is unknown
   * @throws {Error} what the listener throws
   */
  next (): Frame | undefined {
    if (this.#header != null) {
      return this.#nextData(this.#header)
    }

    this.#skipData()

    if (this.#left < HEADER_BYTES) {
      return
    }

    const header = this.#readHeader()

    if (header.type !== FrameType.data) {
      return header
    }

    if (!this.#listener.onDataHeader(header)) {
      this.#skipped = header.length

      return header
    }

    this.#header = header
    this.#part = 0

    return this.#nextData(header)
  }

  #skipData (): void {
    while (this.#skipped > 0 && this.#left > 0) {
      const part = Math.min(this.#skipped, this.#chunks[0].byteLength - this.#at)

      this.#skip(part)
      this.#skipped -= part
    }
  }

  #nextData (header: FrameHeader): Frame | undefined {
    const { streamId, length } = header
    const part = Math.min(this.#left, length)

    if (part > this.#part) {
      this.#listener.onPart(streamId, part - this.#part)
      this.#part = part
    }

    if (part < length) {
      return
    }

    const frame: Frame = header

    frame.data = this.#take(length)
    this.#header = undefined

    return frame
  }

  #push (chunk: Uint8Array): void {
    if (chunk.byteLength > 0) {
      this.#chunks.push(chunk)
      this.#left += chunk.byteLength

      if (areTooMany(this.#chunks.length, this.#left)) {
        // of a frame that comes in small parts
        this.#chunks.push(this.#take(this.#left).slice())
        this.#left = this.#chunks[0].byteLength
      }
    }
  }

  #readHeader (): FrameHeader {
    const [first] = this.#chunks
    const isWhole = first.byteLength - this.#at >= HEADER_BYTES
    const bytes = isWhole ? first : this.#take(HEADER_BYTES).subarray()
    const at = isWhole ? this.#at : 0

    if (isWhole) {
      this.#skip(HEADER_BYTES)
    }

    if (bytes[at] !== 0) {
      throw new InvalidFrameError(`Version ${bytes[at]} of yamux is unknown`)
    }

    return readHeader(bytes, at)
  }

  #take (bytes: number): Uint8ArrayList {
    const taken = new Uint8ArrayList()

    while (bytes > 0) {
      const [first] = this.#chunks
      const part = Math.min(bytes, first.byteLength - this.#at)

      taken.append(part === first.byteLength ? first : first.subarray(this.#at, this.#at + part))
      this.#skip(part)
      bytes -= part
    }

    return taken
  }

  /** So many bytes of the first chunk */
  #skip (bytes: number): void {
    this.#at += bytes
    this.#left -= bytes

    if (this.#at === this.#chunks[0].byteLength) {
      this.#chunks.shift()
      this.#at = 0
    }
  }
}
