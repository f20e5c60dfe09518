import { ourStack } from '../our-stack.ts'

/**
 * One changed import: `tcp()` without the decorators.
 */
export const rival = ourStack({
  name: 'transport',
  title: 'libp2p-fast-tcp, its tcp() alone',
  optimism: 'transport'
})
