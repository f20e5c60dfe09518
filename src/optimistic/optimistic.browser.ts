import { UnsupportedOperationError } from '@libp2p/interface'

/**
 * Takes the place of the decorator where bundlers honour the `browser` field of
 * package.json: it needs the event loop of Node.
 */
export function optimistic (): () => never {
  return () => {
    throw new UnsupportedOperationError('Optimistic negotiation is not possible in browsers')
  }
}
