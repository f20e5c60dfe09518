import { ourStack } from '../our-stack.ts'

/**
 * `tcp()` with `optimistic` encrypter and muxer, and `negotiateFully: false`.
 */
export const rival = ourStack({
  name: 'ours',
  title: 'libp2p-fast-tcp, tcp() and optimistic()',
  optimism: 'all'
})
