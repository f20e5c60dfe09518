import type { ComponentLogger, ConnectionGater, Libp2pEvents, Metrics, TypedEventTarget } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

/** The parts of a node that the transport uses */
export interface TCPComponents {
  metrics?: Metrics
  logger: ComponentLogger

  /**
   * libp2p's events, which libp2p passes. 'connection:open' limits how many streams a dialed
   * connection opens at first. With `reusePort`, 'peer:identify' and 'connection:close' tell at
   * which addresses peers see a listening port. Without `events` neither happens
   */
  events?: TypedEventTarget<Libp2pEvents>

  /** Asked before an address of a peer is dialed that libp2p would have dialed later. libp2p passes it */
  connectionGater?: ConnectionGater

  /** With the option `reusePort`: is given the public addresses at which peers see a listening port. libp2p passes it */
  addressManager?: { addObservedAddr(ma: Multiaddr): void }
}
