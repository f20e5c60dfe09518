/**
 * @packageDocumentation
 *
 * TCP Fast Open (RFC 7413) on Linux: from the second dial to a host on, the first
 * write travels in the SYN, which saves a round trip.
 *
 * @example
 *
 * ```TypeScript
 * import { createLibp2p } from 'libp2p'
 * import { tcp } from 'libp2p-fast-tcp'
 * import { fastOpen } from 'libp2p-fast-tcp/fast-open'
 *
 * const node = await createLibp2p({
 *   transports: [
 *     tcp({ fastOpen: fastOpen() })
 *   ]
 * })
 * ```
 */

import { aWholeNumber, checkOptions } from '../check-options.ts'
import { FastOpenConnector } from './dial.ts'
import { listenWithFastOpen } from './listen.ts'
import { checkKernel, loadLibc } from './load-libc.ts'
import type { Rule } from '../check-options.ts'
import type { FastOpen } from '../connector.ts'

export { FastOpenUnavailableError } from './errors.ts'
export type { MissingForFastOpen } from './errors.ts'
export type { BindServer, ConnectOptions, Connector, Establishing, EstablishingState, FastOpen, FastOpenOutcome, OpenSocket, Target } from '../connector.ts'

/** The default of `queue` */
const QUEUE = 256

export interface FastOpenInit {
  /**
   * How many connections of a listener, from 1 on, may wait for the end of their TCP
   * handshake after their data was taken. Further peers connect in the ordinary way, which
   * takes a round trip more.
   *
   * @default 256
   */
  queue?: number
}

const RULES: Record<keyof FastOpenInit, Rule> = { queue: aWholeNumber(1) }

/**
 * Makes the value of the option `fastOpen` of `tcp()`.
 *
 * @throws {FastOpenUnavailableError} if this process cannot use Fast Open: outside Linux,
 * without koffi or `node:ffi`, or if the kernel refuses
 * @throws {InvalidParametersError} if an option has a wrong value, or none has this name
 */
export function fastOpen (init?: FastOpenInit): FastOpen {
  checkOptions('fastOpen()', init, RULES)

  const queue = init?.queue ?? QUEUE
  const libc = loadLibc()
  checkKernel(libc)

  return {
    connector: ordinary => new FastOpenConnector(libc, ordinary),
    bindServer: (server, options) => { listenWithFastOpen(libc, queue, server, options) }
  }
}
