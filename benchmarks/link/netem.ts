import { exec } from './exec.ts'
import { addDevice, addNamespace } from './namespaces.ts'
import type { LinkShape } from './link.ts'

/**
 * Joins two new namespaces by a veth pair whose ends delay what leaves them.
 *
 * The limit counts the packets in flight: the default of 1,000 would be 300 Mbit/s
 * at 40 ms.
 */
export function startNetem (names: { listener: string, dialler: string }, addresses: { listener: string, dialler: string }, { delay }: LinkShape): void {
  addNamespace(names.listener)
  addNamespace(names.dialler)
  exec('ip', 'link', 'add', names.listener, 'type', 'veth', 'peer', 'name', names.dialler)

  for (const end of ['listener', 'dialler'] as const) {
    addDevice(names[end], names[end], addresses[end])
    exec('tc', '-n', names[end], 'qdisc', 'add', 'dev', names[end], 'root', 'netem', 'limit', '100000', 'delay', `${delay}ms`)
  }
}
