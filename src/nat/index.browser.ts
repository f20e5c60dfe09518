import { UnsupportedOperationError } from '@libp2p/interface'

export { ReusePortUnsupportedError } from '../errors.ts'

/**
 * Takes the place of the entry point where bundlers honour the condition `browser` of the
 * `exports` in package.json: browsers open no TCP sockets.
 */
export function holePunching (): () => never {
  return () => {
    throw new UnsupportedOperationError('Hole punching over TCP is not possible in browsers')
  }
}

/** As {@link holePunching} */
export function reusePort (): never {
  throw new UnsupportedOperationError('TCP connections are not possible in browsers')
}
