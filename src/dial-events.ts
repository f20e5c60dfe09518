import type { PortUse } from './connector.ts'
import type { NewStreamProgressEvents, OpenConnectionProgressEvents, OutboundConnectionUpgradeEvents } from '@libp2p/interface'
import type { ProgressEvent } from 'progress-events'

export type TCPDialEvents =
  OutboundConnectionUpgradeEvents |
  ProgressEvent<'tcp:open-connection'> |
  /**
   * The peer is dialed again: it refused to negotiate optimistically, or dialed us at
   * the same time, or the cookie of TCP Fast Open was gone
   */
  ProgressEvent<'tcp:redial'> |
  /** With the option `reusePort`: which port a socket that is open has left from */
  ProgressEvent<'tcp:local-port', PortUse>

/**
 * The progress events of `node.dial`, `node.dialProtocol` and `transportManager.dial` where this transport
 * dials. libp2p passes on those of its transports, but its types do not name them.
 *
 * @example
 *
 * ```TypeScript
 * await node.dial(ma, {
 *   onProgress: (event: NodeDialEvents) => {
 *     if (event.type === 'tcp:local-port') {
 *       console.info('the dial left from %s port', event.detail)
 *     }
 *   }
 * })
 * ```
 */
export type NodeDialEvents = OpenConnectionProgressEvents | NewStreamProgressEvents | TCPDialEvents
