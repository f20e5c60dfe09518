/**
 * @packageDocumentation
 *
 * Behind a NAT: hole punching over TCP. It needs `reusePort()`, which lets dials leave from
 * the port that listens.
 *
 * @example
 *
 * ```TypeScript
 * import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
 * import { dcutr } from '@libp2p/dcutr'
 * import { identify } from '@libp2p/identify'
 * import { createLibp2p } from 'libp2p'
 * import { tcp } from 'libp2p-fast-tcp'
 * import { holePunching, reusePort } from 'libp2p-fast-tcp/nat'
 *
 * const node = await createLibp2p({
 *   transports: [
 *     tcp({ reusePort: reusePort() }),
 *     circuitRelayTransport()
 *   ],
 *   services: {
 *     identify: identify(),
 *     dcutr: holePunching(dcutr())
 *   }
 * })
 * ```
 */

export { ReusePortUnsupportedError } from '../errors.ts'
export { holePunching } from './hole-punching.ts'
export { reusePort } from './reuse-port.ts'
export type { HolePunchEvents, HolePunchFailed, HolePunchFailure, HolePunchOpened, HolePunchStart } from './hole-punch.ts'
export type { HolePunchingComponents, HolePunchingInit } from './hole-punching.ts'
export type { ReusePortInit } from './reuse-port.ts'
