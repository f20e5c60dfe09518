import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync } from 'node:crypto'
import { KeyObjects } from './key-objects.ts'
import type { KeyPair, NoiseBytes } from './crypto-interface.ts'
import type { KeyObject } from 'node:crypto'

/** What stands before the 32 bytes of an X25519 private key in PKCS #8 (RFC 8410) */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex')

/** Node takes longer to read a private key than to agree on a secret with it: 60 and 38 us (Node 24), 590 and 39 (Node 20) */
const privateKeys = new KeyObjects(readPrivateKey)

export function generateKeyPair (): KeyPair {
  return keyPair(generateKeyPairSync('x25519').privateKey)
}

export function keyPairFromSeed (seed: Uint8Array): KeyPair {
  return keyPair(readPrivateKey(seed))
}

/** @throws {Error} if the public key is one with which every secret is zero */
export function sharedKey (privateKey: NoiseBytes, publicKey: NoiseBytes): Uint8Array {
  return diffieHellman({
    // `subarray` would make another array, which is not known
    privateKey: privateKeys.get(privateKey instanceof Uint8Array ? privateKey : privateKey.subarray()),
    // as JWK, since Node takes 48 us to read a public key as DER, and 21 as JWK (Node 24)
    publicKey: createPublicKey({ key: { kty: 'OKP', crv: 'X25519', x: base64url(publicKey.subarray()) }, format: 'jwk' })
  })
}

function keyPair (object: KeyObject): KeyPair {
  const { x = '', d = '' } = object.export({ format: 'jwk' })
  const privateKey = Buffer.from(d, 'base64url')
  privateKeys.set(privateKey, object)

  return { publicKey: Buffer.from(x, 'base64url'), privateKey }
}

function readPrivateKey (bytes: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, bytes]), type: 'pkcs8', format: 'der' })
}

function base64url (bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}
