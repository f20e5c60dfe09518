import { generateKeyPair } from '@libp2p/crypto/keys'
import { defaultLogger } from '@libp2p/logger'
import { noise, pureJsCrypto } from '@libp2p/noise'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { expect } from 'aegir/chai'
import { pEvent } from 'p-event'
import { Uint8ArrayList } from 'uint8arraylist'
import { cleanUpAfterEach } from '../fixtures/cleanup.ts'
import { notYet } from './not-yet.ts'
import type { StreamMessageEvent } from '@libp2p/interface'
import type { ICryptoInterface } from '@libp2p/noise'

const MESSAGE_BYTES = 60_000

describe('Noise', () => {
  const defer = cleanUpAfterEach()

  notYet('copies no message that it gives to the cipher in parts', /bytes copied: expected 60000 to equal/, async () => {
    let copied = 0
    const crypto: ICryptoInterface = {
      ...pureJsCrypto,

      // it arrives as it leaves: in two parts, as if it took two reads
      chaCha20Poly1305Encrypt (plaintext, nonce, ad, k) {
        const message = pureJsCrypto.chaCha20Poly1305Encrypt(plaintext, nonce, ad, k).subarray()

        return new Uint8ArrayList(message.subarray(0, 10), message.subarray(10))
      },

      chaCha20Poly1305Decrypt (ciphertext, nonce, ad, k, dst) {
        const parts = ciphertext instanceof Uint8Array ? [ciphertext] : [...ciphertext]

        if (dst != null && parts.every(part => part.buffer !== dst.buffer)) {
          copied += dst.byteLength
        }

        return pureJsCrypto.chaCha20Poly1305Decrypt(ciphertext, nonce, ad, k)
      }
    }
    const [outbound, inbound] = multiaddrConnectionPair()
    const [dialer, listener] = [await encrypter(crypto), await encrypter(crypto)]
    const [sender, receiver] = await Promise.all([dialer.secureOutbound(outbound), listener.secureInbound(inbound)])

    defer(() => { outbound.abort(new Error('The test is over')) })
    copied = 0

    const received = pEvent<'message', StreamMessageEvent>(receiver.connection, 'message')
    sender.connection.send(new Uint8Array(MESSAGE_BYTES))

    expect((await received).data.byteLength, 'bytes received').to.equal(MESSAGE_BYTES)
    expect(copied, 'bytes copied').to.equal(0)
  })
})

async function encrypter (crypto: ICryptoInterface): Promise<ReturnType<ReturnType<typeof noise>>> {
  const privateKey = await generateKeyPair('Ed25519')

  return noise({ crypto })({ privateKey, peerId: peerIdFromPrivateKey(privateKey), logger: defaultLogger(), upgrader: { getStreamMuxers: () => new Map() } as any })
}
