import { UnsupportedOperationError } from '@libp2p/interface'

/**
 * What `linux()` needs and this process lacks:
 *
 * - `linux`: Linux on a little-endian machine, and Node
 * - `library`: the package koffi, or a Node that has `node:ffi`
 * - `kernel`: a kernel that knows the socket options, and allows the values
 */
export type MissingForLinux = 'linux' | 'library' | 'kernel'

/**
 * `linux()` cannot do in this process what its options ask for. `missing` names the reason for
 * programs, `message` for people
 */
export class LinuxUnavailableError extends UnsupportedOperationError {
  readonly missing: MissingForLinux

  constructor (missing: MissingForLinux, message: string, cause?: unknown) {
    super(message)

    this.name = 'LinuxUnavailableError'
    this.missing = missing
    this.cause = cause
  }
}
