import { LinuxUnavailableError } from './errors.ts'

export { LinuxUnavailableError }

/**
 * Takes the place of the entry point where bundlers honour the condition `browser` of the
 * `exports` in package.json: browsers open no TCP sockets.
 */
export function linux (): never {
  throw new LinuxUnavailableError('linux', 'linux() needs Node on Linux, this is a browser')
}
