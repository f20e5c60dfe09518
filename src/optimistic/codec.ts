import * as varint from 'uint8-varint'
import { concat } from 'uint8arrays/concat'
import { equals } from 'uint8arrays/equals'
import { fromString } from 'uint8arrays/from-string'
import { toString } from 'uint8arrays/to-string'
import { MAX_MULTISTREAM_BYTES, MULTISTREAM } from '../libp2p.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

const HEADER_MESSAGE = encodeMessage(MULTISTREAM)

/** Messages of multistream-select that are not names of protocols */
const RESERVED = ['', 'na', 'ls', MULTISTREAM]

/**
 * A header and one proposal, as an initiator sends them. A responder that speaks the
 * protocol replies with the same bytes.
 */
export function encodeProposal (protocol: string): Uint8Array {
  return concat([HEADER_MESSAGE, encodeMessage(protocol)])
}

/**
 * The protocol that these bytes propose. Undefined unless they are exactly what
 * `encodeProposal` makes of it.
 */
export function decodeProposal (data: Uint8Array | Uint8ArrayList): string | undefined {
  const messageBytes = data.byteLength - HEADER_MESSAGE.byteLength - 1

  if (messageBytes < 1 || messageBytes > MAX_MULTISTREAM_BYTES + 1) {
    return
  }

  // do not read bytes as text that are not multistream-select
  if (!equals(data.subarray(0, HEADER_MESSAGE.byteLength), HEADER_MESSAGE)) {
    return
  }

  const lengthBytes = messageBytes < 0x80 ? 1 : 2
  const protocol = toString(data.subarray(HEADER_MESSAGE.byteLength + lengthBytes, data.byteLength - 1))

  if (RESERVED.includes(protocol) || protocol.includes('\n')) {
    return
  }

  // one comparison covers the lengths, the newlines and the UTF-8
  return equals(data.subarray(), encodeProposal(protocol)) ? protocol : undefined
}

function encodeMessage (message: string): Uint8Array {
  const text = fromString(`${message}\n`)

  return concat([varint.encode(text.byteLength), text])
}
