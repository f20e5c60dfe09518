import { UnsupportedOperationError } from '@libp2p/interface'

/**
 * What TCP Fast Open needs and this process lacks:
 *
 * - `linux`: Linux on a little-endian machine, and Node
 * - `library`: the package koffi, or a Node that has `node:ffi`
 * - `kernel`: a kernel that knows the socket options, and the lowest bit of `net.ipv4.tcp_fastopen` set
 */
export type MissingForFastOpen = 'linux' | 'library' | 'kernel'

/** TCP Fast Open cannot be used in this process. `missing` names the reason for programs, `message` for people */
export class FastOpenUnavailableError extends UnsupportedOperationError {
  readonly missing: MissingForFastOpen

  constructor (missing: MissingForFastOpen, message: string, cause?: unknown) {
    super(message)

    this.name = 'FastOpenUnavailableError'
    this.missing = missing
    this.cause = cause
  }
}
