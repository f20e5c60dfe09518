import { noise as chainsafeNoise } from '@chainsafe/libp2p-noise'
import { generateKeyPair } from '@libp2p/crypto/keys'
import tests from '@libp2p/interface-compliance-tests/connection-encryption'
import { defaultLogger } from '@libp2p/logger'
import { noise } from '@libp2p/noise'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { plaintext } from '@libp2p/plaintext'
import { tls } from '@libp2p/tls'
import { noiseCrypto, optimistic } from '../../src/index.ts'
import { isThorough } from '../fixtures/thorough.ts'
import type { EncrypterFactory } from '../negotiation/fixtures/early-muxer.ts'

const encrypters: Record<string, EncrypterFactory> = {
  '@libp2p/noise with noiseCrypto': noise({ crypto: noiseCrypto }),
  ...isThorough
    ? {
        '@libp2p/noise': noise(),
        '@chainsafe/libp2p-noise': chainsafeNoise() as EncrypterFactory,
        '@chainsafe/libp2p-noise with noiseCrypto': chainsafeNoise({ crypto: noiseCrypto }) as EncrypterFactory,
        '@libp2p/plaintext': plaintext()
      }
    : {},
  '@libp2p/tls': tls()
}

for (const [name, factory] of Object.entries(encrypters)) {
  describe(`connection encrypter compliance of optimistic(${name})`, () => {
    tests({
      setup: async options => {
        const privateKey = options?.privateKey ?? await generateKeyPair('Ed25519')

        return optimistic(factory)({
          logger: defaultLogger(),
          privateKey,
          peerId: peerIdFromPrivateKey(privateKey),
          upgrader: { getStreamMuxers: () => new Map() }
        } as any)
      },
      teardown: async () => {}
    })
  })
}
