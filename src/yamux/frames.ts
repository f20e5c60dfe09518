// The wire format of yamux: https://github.com/hashicorp/yamux/blob/master/spec.md

export const HEADER_BYTES = 12

export const FrameType = { data: 0, windowUpdate: 1, ping: 2, goAway: 3 } as const

export const Flag = { syn: 1, ack: 2, fin: 4, rst: 8 } as const

/** Why an end opens no more streams */
export const GoAwayCode = { normalTermination: 0, protocolError: 1, internalError: 2 } as const

/** How much a peer may send on a new stream, in bytes. The specification fixes it */
export const FIRST_WINDOW = 256 * 1024

/** The largest window of a stream by default, in bytes, as in js-yamux */
export const MAX_WINDOW = 16 * 1024 * 1024

/** The data of the largest frame, in bytes: with its header it is the most that one message of Noise has */
export const MAX_FRAME_BYTES = 65_519 - HEADER_BYTES

export interface FrameHeader {
  type: number
  flags: number

  /** 0: the frame is about the connection */
  streamId: number

  /** The bytes of data that follow, or that the peer may send; the number of a ping; or a {@link GoAwayCode} */
  length: number
}

export function writeHeader (bytes: Uint8Array, type: number, flags: number, streamId: number, length: number): void {
  bytes[1] = type
  bytes[2] = flags >>> 8
  bytes[3] = flags
  writeUint32(bytes, 4, streamId)
  writeUint32(bytes, 8, length)
}

/** The first byte is the version, which the caller checks */
export function readHeader (bytes: Uint8Array, at: number): FrameHeader {
  return {
    type: bytes[at + 1],
    flags: bytes[at + 2] << 8 | bytes[at + 3],
    streamId: readUint32(bytes, at + 4),
    length: readUint32(bytes, at + 8)
  }
}

function writeUint32 (bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24
  bytes[at + 1] = value >>> 16
  bytes[at + 2] = value >>> 8
  bytes[at + 3] = value
}

function readUint32 (bytes: Uint8Array, at: number): number {
  return (bytes[at] << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3]) >>> 0
}
