import { ObservedAddresses, observedOf } from './observed-addresses.ts'
import type { PluginHost, PluginLayer } from '../plugin.ts'

/**
 * Learns from 'peer:identify' at which public addresses peers see our listening ports, and tells libp2p.
 *
 * @returns is to be told of the dialed connections
 */
export function observe ({ components: { addressManager, events }, log, transport }: Pick<PluginHost, 'components' | 'log' | 'transport'>): NonNullable<PluginLayer['onDialed']> {
  const observed = new ObservedAddresses()

  /** Connections that left from a listening port. Key: the timeline, which is also that of the upgraded connection */
  const reused = new WeakMap<object, { remoteIP?: string }>()

  observedOf.set(transport, observed)
  events?.addEventListener('peer:identify', ({ detail: { connection, observedAddr } }) => {
    const ip = reused.get(connection.timeline)?.remoteIP

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

  return (maConn, port) => {
    if (port === 'reused') {
      reused.set(maConn.timeline, maConn)
    }
  }
}
