import { createCipheriv, createHash } from 'node:crypto'
import type { Hash } from 'node:crypto'

/** Bytes that look random and are the same for the same seed */
export function contentOf (seed: number, length: number): Uint8Array {
  const key = createHash('sha256').update(`${seed}`).digest()

  return new Uint8Array(createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length)))
}

export function hashOf (...parts: Uint8Array[]): Hash {
  const hash = createHash('sha256')

  for (const part of parts) {
    hash.update(part)
  }

  return hash
}
