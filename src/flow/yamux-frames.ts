import type { Uint8ArrayList } from 'uint8arraylist'

// The wire format of yamux: https://github.com/hashicorp/yamux/blob/master/spec.md

const HEADER_BYTES = 12

export const FrameType = { data: 0, windowUpdate: 1, ping: 2 } as const

export const Flag = { syn: 1, ack: 2, fin: 4, rst: 8 } as const

/** How much a peer may send on a new stream, in bytes */
export const FIRST_WINDOW = 256 * 1024

export interface FrameHeader {
  type: number
  flags: number
  streamId: number

  /** Of the data that follows, the bytes that the peer may send, or the number of a ping */
  length: number
}

export interface FrameListener {
  /** The header of a frame has come */
  onHeader(header: FrameHeader): void

  /** So many bytes of the data of a frame have come */
  onData(streamId: number, bytes: number): void
}

/** @returns undefined unless it is the header of a frame without data, which muxers send alone */
export function loneHeader (frame: Uint8Array | Uint8ArrayList): FrameHeader | undefined {
  if (frame instanceof Uint8Array && frame.byteLength === HEADER_BYTES && frame[0] === 0) {
    return readHeader(frame)
  }
}

export function windowUpdate (streamId: number, flags: number, length: number): Uint8Array {
  const header = new Uint8Array(HEADER_BYTES)
  const view = new DataView(header.buffer)

  view.setUint8(1, FrameType.windowUpdate)
  view.setUint16(2, flags)
  view.setUint32(4, streamId)
  view.setUint32(8, length)

  return header
}

/** Finds the frames in what a peer sends, wherever it is cut, and skips their data */
export class FrameScanner {
  readonly #listener: FrameListener

  /** What has come of a header that is not whole */
  #header?: Uint8Array
  #headerBytes = 0

  /** The stream of the last frame, and how much of its data is still to come */
  #streamId = 0
  #dataBytes = 0

  constructor (listener: FrameListener) {
    this.#listener = listener
  }

  /** Of the last frame, which may not be whole */
  get streamId (): number {
    return this.#streamId
  }

  scan (bytes: Uint8Array): void {
    let offset = 0

    while (offset < bytes.byteLength) {
      if (this.#dataBytes > 0) {
        const part = Math.min(this.#dataBytes, bytes.byteLength - offset)

        this.#dataBytes -= part
        offset += part
        this.#listener.onData(this.#streamId, part)
        continue
      }

      if (this.#header == null && bytes.byteLength - offset >= HEADER_BYTES) {
        this.#onHeader(readHeader(bytes, offset))
        offset += HEADER_BYTES
        continue
      }

      const header = this.#header ??= new Uint8Array(HEADER_BYTES)

      while (this.#headerBytes < HEADER_BYTES && offset < bytes.byteLength) {
        header[this.#headerBytes++] = bytes[offset++]
      }

      if (this.#headerBytes === HEADER_BYTES) {
        this.#header = undefined
        this.#headerBytes = 0
        this.#onHeader(readHeader(header))
      }
    }
  }

  #onHeader (header: FrameHeader): void {
    this.#streamId = header.streamId
    this.#dataBytes = header.type === FrameType.data ? header.length : 0
    this.#listener.onHeader(header)
  }
}

function readHeader (bytes: Uint8Array, at = 0): FrameHeader {
  return {
    type: bytes[at + 1],
    flags: bytes[at + 2] << 8 | bytes[at + 3],
    streamId: readUint32(bytes, at + 4),
    length: readUint32(bytes, at + 8)
  }
}

function readUint32 (bytes: Uint8Array, at: number): number {
  return (bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]) >>> 0
}
