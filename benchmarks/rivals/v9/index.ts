import { olderStack } from '../older-stack.ts'

/**
 * The "0.2 s" of js-libp2p issue #3029. multistream-select 5.0.3 is what its
 * installations had: it sent a lone proposal together with what followed.
 */
export const rival = olderStack({
  name: 'v9',
  title: 'libp2p 1.9, @libp2p/tcp 9 (the "0.2 s")',
  encryptersOption: 'connectionEncryption'
})
