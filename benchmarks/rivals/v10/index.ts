import { olderStack } from '../older-stack.ts'

/**
 * The "0.4 s" of js-libp2p issue #3029.
 */
export const rival = olderStack({
  name: 'v10',
  title: 'libp2p 2.8, @libp2p/tcp 10 (the "0.4 s")',
  encryptersOption: 'connectionEncrypters'
})
