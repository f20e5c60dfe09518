/**
 * A TCP transport and a muxer for [libp2p](https://libp2p.io/docs/transports-overview/)
 * that take the place of `@libp2p/tcp` and `@libp2p/yamux`.
 *
 * @example
 *
 * ```TypeScript
 * import { noise } from '@libp2p/noise'
 * import { multiaddr } from '@multiformats/multiaddr'
 * import { createLibp2p } from 'libp2p'
 * import { optimistic, tcp, yamux } from 'libp2p-fast-tcp'
 *
 * const node = await createLibp2p({
 *   transports: [tcp()],
 *   connectionEncrypters: [optimistic(noise())],
 *   streamMuxers: [yamux()]
 * })
 *
 * const ma = multiaddr('/ip4/123.123.123.123/tcp/1234')
 *
 * // dial a TCP connection, timing out after 10 seconds
 * const connection = await node.dial(ma, {
 *   signal: AbortSignal.timeout(10_000)
 * })
 *
 * // use connection...
 * ```
 *
 * @module libp2p-fast-tcp
 * @packageDocumentation
 */

import { TCP } from './tcp.ts'
import type { TCPComponents } from './components.ts'
import type { TCPDialEvents } from './dial-events.ts'
import type { TCPOptions } from './options.ts'
import type { Transport } from '@libp2p/interface'

export { CLOSE_TIMEOUT } from './connection/fin-wait.ts'
export { IncompatibleUtilsError, TCPConnectError, TCPStalledWriteError } from './errors.ts'
export type { FastOpenOutcome, PortUse } from './connector.ts'
export type { TCPComponents } from './components.ts'
export type { NodeDialEvents, TCPDialEvents } from './dial-events.ts'
export type { TCPMetrics } from './dial/metrics.ts'
export { noiseCrypto } from './noise/noise-crypto.ts'
export { optimistic } from './optimistic/optimistic.ts'
export { yamux } from './yamux/index.ts'
export type { KeyPair, NoiseBytes, NoiseCrypto } from './noise/crypto-interface.ts'
export type { OptimisticEncrypterComponents } from './optimistic/encrypter.ts'
export type { YamuxComponents } from './yamux/factory.ts'
export type { YamuxOptions, YamuxStreamOptions } from './yamux/options.ts'
export type { OptimisticInit } from './optimistic/optimistic.ts'
export type {
  CloseServerOnMaxConnectionsOpts,
  Linux,
  ReusePort,
  TCPCreateListenerOptions,
  TCPDialOptions,
  TCPDialSocketOptions,
  TCPListenSocketOptions,
  TCPOptions,
  TCPSocketOptions
} from './options.ts'

/**
 * Makes the transport, for `transports` of `createLibp2p`.
 *
 * @throws {InvalidParametersError} on creation of the node, if an option has a wrong value, or none has this name
 * @throws {IncompatibleUtilsError} on creation of the node, if this version of `@libp2p/utils` does not fit
 */
export function tcp (init?: TCPOptions): (components: TCPComponents) => Transport<TCPDialEvents> {
  return (components: TCPComponents) => new TCP(components, init)
}
