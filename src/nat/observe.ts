import { ObservedAddresses } from './observed-addresses.ts'
import type { TCPComponents } from '../components.ts'
import type { Connection, Logger } from '@libp2p/interface'

export interface ObserveInit {
  components: Pick<TCPComponents, 'addressManager' | 'events'>

  /** The IP address of the peer, if we dialed the connection from a listening port */
  remoteIPIfReused(connection: Connection): string | undefined
  log: Logger
}

/**
 * Learns from 'peer:identify' at which public addresses peers see our listening ports, and tells libp2p.
 */
export function observe ({ components: { addressManager, events }, remoteIPIfReused, log }: ObserveInit): ObservedAddresses {
  const observed = new ObservedAddresses()

  events?.addEventListener('peer:identify', ({ detail: { connection, observedAddr } }) => {
    const ip = remoteIPIfReused(connection)

    if (observedAddr == null || ip == null) {
      return
    }

    // nothing that a peer says may end the process
    try {
      const address = observed.add(connection, ip, observedAddr)

      if (address != null) {
        log('%p sees a listening port at %a', connection.remotePeer, address)
        addressManager?.addObservedAddr(address)
      }
    } catch (err) {
      log.error('could not use the address that %p observed - %e', connection.remotePeer, err)
    }
  })
  events?.addEventListener('connection:close', ({ detail: connection }) => { observed.delete(connection) })

  return observed
}
