import { createHash, hkdfSync } from 'node:crypto'
import { decrypt, encrypt } from './cipher.ts'
import { generateKeyPair, keyPairFromSeed, sharedKey } from './x25519.ts'
import type { NoiseCrypto } from './crypto-interface.ts'

/**
 * Takes processor time off Noise: each key is made a KeyObject of Node's once, where noise has Node read its bytes for
 * each message and each step of the handshake, and each message takes the cipher that is faster for its size.
 *
 * In browsers it is `undefined`, with which noise takes what it has.
 *
 * @example
 *
 * ```TypeScript
 * import { noise } from '@libp2p/noise'
 * import { noiseCrypto } from 'libp2p-fast-tcp'
 *
 * const encrypter = noise({ crypto: noiseCrypto })
 * ```
 */
export const noiseCrypto: NoiseCrypto = {
  hashSHA256 (data) {
    return createHash('sha256').update(data.subarray()).digest()
  },

  getHKDF (ck, ikm) {
    const okm = new Uint8Array(hkdfSync('sha256', ikm, ck, new Uint8Array(), 96))

    return [okm.subarray(0, 32), okm.subarray(32, 64), okm.subarray(64)]
  },

  generateX25519KeyPair: generateKeyPair,
  generateX25519KeyPairFromSeed: keyPairFromSeed,
  generateX25519SharedKey: sharedKey,
  chaCha20Poly1305Encrypt: encrypt,
  chaCha20Poly1305Decrypt: decrypt
}
