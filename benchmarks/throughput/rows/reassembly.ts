import type { Bytes } from '../../../test/lab/peers/contender.ts'

/**
 * Before every chunk: its length, and how much of the message follows after it.
 * Two big-endian numbers of 32 bits.
 */
const HEADER = 8

/** Cuts a message in chunks that each start with a length prefix. */
export function toChunks (message: Uint8Array, chunkBytes: number): Uint8Array[] {
  const chunks: Uint8Array[] = []

  for (let start = 0; start < message.byteLength; start += chunkBytes) {
    const payload = message.subarray(start, start + chunkBytes)
    const chunk = new Uint8Array(HEADER + payload.byteLength)
    const view = new DataView(chunk.buffer)
    view.setUint32(0, payload.byteLength)
    view.setUint32(4, message.byteLength - start - payload.byteLength)
    chunk.set(payload, HEADER)
    chunks.push(chunk)
  }

  return chunks
}

/** Puts messages together from chunks, wherever TCP splits them. */
export class Reassembly {
  readonly #onMessage: (message: Uint8Array) => void
  readonly #header = new Uint8Array(HEADER)
  readonly #headerView = new DataView(this.#header.buffer)
  #headerBytes = 0
  #chunkRest = 0
  #messageRest = 0
  #message = new Uint8Array(0)
  #messageBytes = 0

  constructor (onMessage: (message: Uint8Array) => void) {
    this.#onMessage = onMessage
  }

  receive (bytes: Bytes): void {
    for (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
      let rest = part

      while (rest.byteLength > 0) {
        rest = this.#chunkRest === 0 ? this.#takeHeader(rest) : this.#takePayload(rest)
      }
    }
  }

  #takeHeader (bytes: Uint8Array): Uint8Array {
    const taken = bytes.subarray(0, HEADER - this.#headerBytes)
    this.#header.set(taken, this.#headerBytes)
    this.#headerBytes += taken.byteLength

    if (this.#headerBytes === HEADER) {
      this.#headerBytes = 0
      this.#chunkRest = this.#headerView.getUint32(0)
      this.#messageRest = this.#headerView.getUint32(4)

      if (this.#messageBytes === 0) {
        this.#message = new Uint8Array(this.#chunkRest + this.#messageRest)
      }
    }

    return bytes.subarray(taken.byteLength)
  }

  #takePayload (bytes: Uint8Array): Uint8Array {
    const taken = bytes.subarray(0, this.#chunkRest)
    this.#message.set(taken, this.#messageBytes)
    this.#messageBytes += taken.byteLength
    this.#chunkRest -= taken.byteLength

    if (this.#chunkRest === 0 && this.#messageRest === 0) {
      this.#messageBytes = 0
      this.#onMessage(this.#message)
    }

    return bytes.subarray(taken.byteLength)
  }
}
