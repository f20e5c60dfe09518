import { FastOpenUnavailableError } from './errors.ts'

export { FastOpenUnavailableError }

/**
 * Takes the place of the entry point where bundlers honour the condition `browser` of the
 * `exports` in package.json: browsers open no TCP sockets.
 */
export function fastOpen (): never {
  throw new FastOpenUnavailableError('linux', 'TCP Fast Open needs Node on Linux, this is a browser')
}
