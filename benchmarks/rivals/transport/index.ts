import { ourStack } from '../our-stack.ts'

/**
 * One changed import: `tcp()` without the decorators.
 */
export const rival = ourStack({
  name: 'transport',
  title: 'ours, the transport alone',
  optimism: 'transport'
})
