import crypto, { randomBytes } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { noise as chainsafeNoise } from '@chainsafe/libp2p-noise'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { defaultLogger } from '@libp2p/logger'
import { noise } from '@libp2p/noise'
import { defaultCrypto } from '@libp2p/noise/crypto'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { expect } from 'aegir/chai'
import { pEventIterator } from 'p-event'
import { Uint8ArrayList } from 'uint8arraylist'
import { noiseCrypto } from '../../src/index.ts'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { rawPair } from '../fixtures/raw.ts'
import { AEAD, AGREEMENT, XX } from './fixtures/noise-vectors.ts'
import { handshake } from './fixtures/noise-xx.ts'
import type { NoiseCrypto } from '../../src/index.ts'
import type { Defer } from '../fixtures/cleanup.ts'
import type { EncrypterFactory } from '../negotiation/fixtures/early-muxer.ts'
import type { ICryptoInterface as ChainsafeCrypto } from '@chainsafe/libp2p-noise'
import type { MessageStream, StreamMessageEvent } from '@libp2p/interface'
import type { ICryptoInterface } from '@libp2p/noise'

// the types of both packages take it
const ours: ICryptoInterface & ChainsafeCrypto = noiseCrypto

/** Both ciphers, on both sides of where one takes over from the other, up to the largest message of Noise, and beyond it */
const SIZES = [0, 1, 15, 16, 100, 483, 484, 499, 500, 501, 516, 1_024, 65_519, 65_520, 200_000]
const NONCE = new Uint8Array(12)
const NO_BYTES = new Uint8Array()

const FACTORIES: Record<string, (crypto?: NoiseCrypto) => EncrypterFactory> = {
  '@libp2p/noise': crypto => noise({ crypto }),
  '@chainsafe/libp2p-noise': crypto => chainsafeNoise({ crypto }) as EncrypterFactory
}

describe('noiseCrypto', () => {
  const defer = cleanUpAfterEach()

  it('encrypts and decrypts as RFC 7539 does', () => {
    const [key, nonce, associatedData, plaintext] = [AEAD.key, AEAD.nonce, AEAD.associatedData, AEAD.plaintext].map(bytes)
    const ciphertext = ours.chaCha20Poly1305Encrypt(plaintext, nonce, associatedData, key).subarray()

    expect(hex(ciphertext)).to.equal(AEAD.ciphertext + AEAD.tag)
    expect(hex(ours.chaCha20Poly1305Decrypt(ciphertext, nonce, associatedData, key))).to.equal(AEAD.plaintext)
  })

  it('agrees on the secrets of RFC 7748', () => {
    const alice = ours.generateX25519KeyPairFromSeed(bytes(AGREEMENT.alice.secretKey))
    const bob = ours.generateX25519KeyPairFromSeed(bytes(AGREEMENT.bob.secretKey))

    expect([hex(alice.publicKey), hex(bob.publicKey)]).to.deep.equal([AGREEMENT.alice.publicKey, AGREEMENT.bob.publicKey])
    expect(hex(ours.generateX25519SharedKey(alice.privateKey, bob.publicKey))).to.equal(AGREEMENT.secret)
    expect(hex(ours.generateX25519SharedKey(new Uint8ArrayList(bytes(AGREEMENT.bob.secretKey)), new Uint8ArrayList(alice.publicKey)))).to.equal(AGREEMENT.secret)
  })

  it('refuses public keys that make every secret zero', () => {
    const { privateKey } = ours.generateX25519KeyPair()

    expect(() => ours.generateX25519SharedKey(privateKey, new Uint8Array(32))).to.throw()
    expect(() => ours.generateX25519SharedKey(privateKey, new Uint8Array(31).fill(9))).to.throw()
  })

  it('speaks the handshake of the test vectors of Noise', () => {
    const { messages, hash } = handshake(ours)

    expect(messages.map(hex)).to.deep.equal(XX.messages.map(([, ciphertext]) => ciphertext))
    expect(hex(hash)).to.equal(XX.hash)
  })

  it('makes key pairs that noise can use', () => {
    const { publicKey, privateKey } = ours.generateX25519KeyPair()
    const theirs = defaultCrypto.generateX25519KeyPair()

    expect(hex(defaultCrypto.generateX25519KeyPairFromSeed(privateKey).publicKey)).to.equal(hex(publicKey))
    expect(hex(ours.generateX25519SharedKey(privateKey, theirs.publicKey)))
      .to.equal(hex(defaultCrypto.generateX25519SharedKey(theirs.privateKey, publicKey)))
  })

  for (const size of SIZES) {
    it(`does to ${size} bytes what noise does, whole and in pieces`, () => {
      const [key, plaintext] = [randomBytes(32), randomBytes(size)]
      const expected = defaultCrypto.chaCha20Poly1305Encrypt(plaintext, NONCE, NO_BYTES, key).subarray()

      for (const given of [plaintext, new Uint8ArrayList(plaintext), inPieces(plaintext)]) {
        expect(hex(ours.chaCha20Poly1305Encrypt(given, NONCE, NO_BYTES, key))).to.equal(hex(expected))
      }

      for (const given of [Uint8Array.from(expected), new Uint8ArrayList(Uint8Array.from(expected)), inPieces(expected)]) {
        expect(hex(ours.chaCha20Poly1305Decrypt(given, NONCE, NO_BYTES, key))).to.equal(hex(plaintext))
      }
    })

    it(`refuses ${size} bytes with a bit changed anywhere, another key, nonce or associated data`, () => {
      const [key, plaintext] = [randomBytes(32), randomBytes(size)]
      const ciphertext = ours.chaCha20Poly1305Encrypt(plaintext, NONCE, NO_BYTES, key).subarray()
      const open = (changed: Uint8Array, nonce = NONCE, associatedData = NO_BYTES, k = key): any => ours.chaCha20Poly1305Decrypt(inPieces(changed), nonce, associatedData, k)

      for (const at of [0, size >> 1, size, size + 15]) {
        expect(() => open(flipped(ciphertext, at)), `bit ${at}`).to.throw().with.property('name', 'InvalidMessageError')
      }

      expect(() => open(ciphertext, NONCE, NO_BYTES, randomBytes(32))).to.throw().with.property('name', 'InvalidMessageError')
      expect(() => open(ciphertext, randomBytes(12))).to.throw().with.property('name', 'InvalidMessageError')
      expect(() => open(ciphertext, NONCE, Uint8Array.of(1))).to.throw().with.property('name', 'InvalidMessageError')
      expect(() => open(ciphertext.subarray(0, ciphertext.byteLength - 1))).to.throw().with.property('name', 'InvalidMessageError')
      expect(hex(open(ciphertext))).to.equal(hex(plaintext))
    })

    it(`encrypts ${size} bytes with what an array holds now, whose key was overwritten`, () => {
      const [key, plaintext] = [randomBytes(32), randomBytes(size)]
      const before = hex(ours.chaCha20Poly1305Encrypt(plaintext, NONCE, NO_BYTES, key))
      key.fill(0)
      const after = ours.chaCha20Poly1305Encrypt(plaintext, NONCE, NO_BYTES, key).subarray()

      expect(hex(after)).to.equal(hex(defaultCrypto.chaCha20Poly1305Encrypt(plaintext, NONCE, NO_BYTES, key))).and.not.equal(before)
      expect(hex(ours.chaCha20Poly1305Decrypt(after, NONCE, NO_BYTES, key))).to.equal(hex(plaintext))
    })
  }

  it('reads no private key that it has made', () => {
    const { createPrivateKey } = crypto
    const [a, b] = [noiseCrypto.generateX25519KeyPair(), noiseCrypto.generateX25519KeyPair()]
    let read = 0

    defer(() => {
      crypto.createPrivateKey = createPrivateKey
      syncBuiltinESMExports()
    })
    crypto.createPrivateKey = (...args) => {
      read++

      return createPrivateKey(...args)
    }
    syncBuiltinESMExports()

    expect(noiseCrypto.generateX25519SharedKey(a.privateKey, b.publicKey)).to.deep.equal(noiseCrypto.generateX25519SharedKey(b.privateKey, a.publicKey))
    expect(read).to.equal(0)

    // the first of a seed is read, and one that was copied
    noiseCrypto.generateX25519SharedKey(Uint8Array.from(a.privateKey), b.publicKey)
    expect(read).to.equal(1)
  })

  it('agrees with what an array holds now, whose private key was overwritten', () => {
    const [pair, other, peer] = [ours.generateX25519KeyPair(), ours.generateX25519KeyPair(), ours.generateX25519KeyPair()]
    pair.privateKey.set(other.privateKey)

    expect(hex(ours.generateX25519SharedKey(pair.privateKey, peer.publicKey)))
      .to.equal(hex(defaultCrypto.generateX25519SharedKey(other.privateKey, peer.publicKey)))
  })

  it('keeps earlier messages as they were when it encrypts and decrypts others', () => {
    const [key, plaintext] = [randomBytes(32), randomBytes(1_024)]
    const ciphertext = ours.chaCha20Poly1305Encrypt(inPieces(plaintext), NONCE, NO_BYTES, key)
    const decrypted = ours.chaCha20Poly1305Decrypt(inPieces(ciphertext.subarray()), NONCE, NO_BYTES, key)
    ours.chaCha20Poly1305Decrypt(ours.chaCha20Poly1305Encrypt(inPieces(randomBytes(1_024)), NONCE, NO_BYTES, key), NONCE, NO_BYTES, key)

    expect(hex(decrypted)).to.equal(hex(plaintext))
    expect(hex(ciphertext)).to.equal(hex(defaultCrypto.chaCha20Poly1305Encrypt(plaintext, NONCE, NO_BYTES, key)))
  })

  for (const [name, factory] of Object.entries(FACTORIES)) {
    for (const [dialer, listener] of [[noiseCrypto, undefined], [undefined, noiseCrypto], [noiseCrypto, noiseCrypto]]) {
      it(`${name}: a dialer with ${nameOf(dialer)} and a listener with ${nameOf(listener)} understand messages of every size`, async () => {
        const { out, inbound } = await secured(defer, factory(dialer), factory(listener))

        for (const [from, to] of [[out, inbound], [inbound, out]]) {
          const sent = SIZES.slice(1).map(size => inPieces(randomBytes(size)))
          const received = receive(to, sent.reduce((total, { byteLength }) => total + byteLength, 0))

          for (const message of sent) {
            from.send(message)
          }

          expect(hex(await received)).to.equal(hex(new Uint8ArrayList(...sent)))
        }
      })
    }
  }
})

function nameOf (crypto?: NoiseCrypto): string {
  return crypto == null ? 'what noise has' : 'noiseCrypto'
}

async function secured (defer: Defer, ...factories: [EncrypterFactory, EncrypterFactory]): Promise<{ out: MessageStream, inbound: MessageStream }> {
  const { dialer, acceptor } = await rawPair(defer)
  const [ours, theirs] = await Promise.all(factories.map(async factory => {
    const privateKey = await generateKeyPair('Ed25519')

    return factory({ logger: defaultLogger(), privateKey, peerId: peerIdFromPrivateKey(privateKey), upgrader: { getStreamMuxers: () => new Map() } } as any)
  }))
  const [out, inbound] = await Promise.all([ours.secureOutbound(dialer), theirs.secureInbound(acceptor)])

  return { out: out.connection, inbound: inbound.connection }
}

async function receive (stream: MessageStream, length: number): Promise<Uint8ArrayList> {
  const received = new Uint8ArrayList()

  for await (const { data } of pEventIterator<'message', StreamMessageEvent>(stream, 'message')) {
    received.append(data)

    if (received.byteLength >= length) {
      break
    }
  }

  return received
}

function bytes (text: string): Uint8Array {
  return Buffer.from(text, 'hex')
}

function hex (data: Uint8Array | Uint8ArrayList): string {
  return Buffer.from(data.subarray()).toString('hex')
}

function inPieces (data: Uint8Array): Uint8ArrayList {
  const third = Math.ceil(data.byteLength / 3)

  return new Uint8ArrayList(...[data.subarray(0, third), data.subarray(third, 2 * third), data.subarray(2 * third)].map(piece => Uint8Array.from(piece)))
}

function flipped (data: Uint8Array, at: number): Uint8Array {
  const changed = Uint8Array.from(data)
  changed[Math.min(at, data.byteLength - 1)] ^= 1

  return changed
}
