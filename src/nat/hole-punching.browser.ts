import { UnsupportedOperationError } from '@libp2p/interface'

/**
 * Takes the place of the decorator where bundlers honour the `browser` field of
 * package.json: browsers open no TCP sockets.
 */
export function holePunching (): () => never {
  return () => {
    throw new UnsupportedOperationError('Hole punching over TCP is not possible in browsers')
  }
}
