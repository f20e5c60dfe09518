export interface KeyPair {
  publicKey: Uint8Array
  privateKey: Uint8Array
}

/** Bytes in one piece or, as a list of any version of `uint8arraylist`, in several */
export type NoiseBytes = Uint8Array | (Iterable<Uint8Array> & { readonly byteLength: number, subarray(): Uint8Array })

/**
 * The `ICryptoInterface` of `@libp2p/noise` and `@chainsafe/libp2p-noise`, of which neither is a dependency.
 *
 * Messages are returned as `Uint8Array` or `Uint8ArrayList`. The type is `any`, since to TypeScript a list of one version of
 * `uint8arraylist` is none of another, and the two packages have different ones.
 */
export interface NoiseCrypto {
  hashSHA256(data: NoiseBytes): Uint8Array
  getHKDF(ck: Uint8Array, ikm: Uint8Array): [Uint8Array, Uint8Array, Uint8Array]
  generateX25519KeyPair(): KeyPair
  generateX25519KeyPairFromSeed(seed: Uint8Array): KeyPair
  generateX25519SharedKey(privateKey: NoiseBytes, publicKey: NoiseBytes): Uint8Array
  chaCha20Poly1305Encrypt(plaintext: NoiseBytes, nonce: Uint8Array, ad: Uint8Array, k: Uint8Array): any
  chaCha20Poly1305Decrypt(ciphertext: NoiseBytes, nonce: Uint8Array, ad: Uint8Array, k: Uint8Array, dst?: Uint8Array): any
}
