import type { Uint8ArrayList } from 'uint8arraylist'

/** A chunk takes 200 bytes besides what it holds: a peer that sends single bytes would fill memory long before a window is full */
const LEAST_BYTES = 1024

/** So many are no matter, however small */
const FEW = 1024

/** Whether so many chunks should become one. Rarely enough to cost little, since it takes more the more bytes they hold */
export function areTooMany (chunks: number, bytes: number): boolean {
  return chunks > FEW && chunks * LEAST_BYTES > bytes
}

/** Data that is kept may be in memory of so many times its size, which it keeps, too */
const MOST_TIMES = 4

/** What a chunk keeps beside that is no matter, in bytes */
const LITTLE = 1024

/** The same data, without the memory around it: a byte that comes in a message of 64 KiB would keep the whole message */
export function withoutWaste (data: Uint8Array | Uint8ArrayList): Uint8Array | Uint8ArrayList {
  const { byteLength } = data
  const chunks = data instanceof Uint8Array ? [data] : [...data]

  if (chunks.every(({ buffer }) => buffer.byteLength <= LITTLE + MOST_TIMES * byteLength)) {
    return data
  }

  // not in memory that is shared with others
  const bytes = new Uint8Array(byteLength)
  let at = 0

  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }

  return bytes
}
