import { exec } from './exec.ts'
import { addDevice } from './namespaces.ts'
import type { LinkShape } from './link.ts'
import type { CableEnd } from './relay.ts'

/**
 * Joins two namespaces by a veth pair whose ends delay what leaves them.
 *
 * The limit counts the packets in flight: the default of 1,000 would be 300 Mbit/s at 40 ms.
 */
export function joinByNetem (ends: [CableEnd, CableEnd], { delay }: LinkShape): void {
  exec('ip', 'link', 'add', ends[0].device, 'type', 'veth', 'peer', 'name', ends[1].device)

  for (const { namespace, device, address } of ends) {
    addDevice(namespace, device, address)
    exec('tc', '-n', namespace, 'qdisc', 'add', 'dev', device, 'root', 'netem', 'limit', '100000', 'delay', `${delay}ms`)
  }
}
