import { ourStack } from '../our-stack.ts'

/**
 * The cure that pull request #3032 proposed for js-libp2p issue #3029.
 */
export const rival = ourStack({
  name: 'recipe',
  title: 'noDelay and CLOSE_TIMEOUT alone',
  optimism: 'none'
})
