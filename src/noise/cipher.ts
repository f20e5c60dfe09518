import { createCipheriv, createDecipheriv, createSecretKey, getCiphers } from 'node:crypto'
import { ChaCha20Poly1305, newInstance } from '@chainsafe/as-chacha20poly1305'
import { InvalidMessageError } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import { KeyObjects } from './key-objects.ts'
import type { NoiseBytes } from './crypto-interface.ts'

const CIPHER = 'chacha20-poly1305'
const TAG_LENGTH = 16
const OPTIONS = { authTagLength: TAG_LENGTH }

/**
 * Below this many bytes the WASM cipher that noise uses takes less time than Node's with a KeyObject. Electron has no
 * ChaCha20-Poly1305 of Node's.
 */
const WASM_BELOW = getCiphers().includes(CIPHER) ? 500 : Infinity

/** The largest message of Noise */
const MAX_MESSAGE_LENGTH = 65_535

const keys = new KeyObjects(createSecretKey)

/**
 * Pieces of a message are gathered here, since each `update` of a cipher takes a call into Node and a buffer for its
 * result. Nothing reads it after `update` has returned.
 */
const gathered = Buffer.allocUnsafeSlow(MAX_MESSAGE_LENGTH)

let wasmCipher: ChaCha20Poly1305 | undefined

function wasm (): ChaCha20Poly1305 {
  wasmCipher ??= new ChaCha20Poly1305(newInstance())

  return wasmCipher
}

/** Encrypts a message, and puts the tag behind it */
export function encrypt (plaintext: NoiseBytes, nonce: Uint8Array, associatedData: Uint8Array, key: Uint8Array): NoiseBytes {
  if (plaintext.byteLength < WASM_BELOW) {
    return wasm().seal(key, nonce, plaintext.subarray(), associatedData)
  }

  const cipher = createCipheriv(CIPHER, keys.get(key), nonce, OPTIONS)
  cipher.setAAD(associatedData, { plaintextLength: plaintext.byteLength })
  const ciphertext = cipher.update(whole(plaintext))
  cipher.final()

  return new Uint8ArrayList(ciphertext, cipher.getAuthTag())
}

/**
 * Decrypts a message with its tag
 *
 * @throws {InvalidMessageError} if the tag is wrong
 */
export function decrypt (ciphertext: NoiseBytes, nonce: Uint8Array, associatedData: Uint8Array, key: Uint8Array, dst?: Uint8Array): NoiseBytes {
  const length = ciphertext.byteLength - TAG_LENGTH

  if (length < 0) {
    throw new InvalidMessageError('The encrypted message is shorter than its tag')
  }

  if (length < WASM_BELOW) {
    const plaintext = wasm().open(key, nonce, ciphertext.subarray(), associatedData, dst)

    if (plaintext == null) {
      throw new InvalidMessageError('The tag of the encrypted message is wrong')
    }

    return plaintext
  }

  const bytes = whole(ciphertext)
  const decipher = createDecipheriv(CIPHER, keys.get(key), nonce, OPTIONS)
  decipher.setAAD(associatedData, { plaintextLength: length })
  decipher.setAuthTag(bytes.subarray(length))
  const plaintext = decipher.update(bytes.subarray(0, length))

  try {
    decipher.final()
  } catch (err) {
    throw Object.assign(new InvalidMessageError('The tag of the encrypted message is wrong'), { cause: err })
  }

  return plaintext
}

function whole (bytes: NoiseBytes): Uint8Array {
  if (bytes instanceof Uint8Array) {
    return bytes
  }

  const pieces = [...bytes]

  if (pieces.length === 1 || bytes.byteLength > gathered.byteLength) {
    return bytes.subarray()
  }

  let end = 0

  for (const piece of pieces) {
    gathered.set(piece, end)
    end += piece.byteLength
  }

  return gathered.subarray(0, end)
}
