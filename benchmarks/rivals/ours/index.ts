import { ourStack } from '../our-stack.ts'

/**
 * `tcp()` with `optimistic` encrypter and muxer, and `negotiateFully: false`.
 */
export const rival = ourStack({
  name: 'ours',
  title: 'ours, all of it',
  optimism: 'all'
})
