import { exec } from './exec.ts'
import { addDevice, addNamespace } from './namespaces.ts'
import type { LinkShape } from './link.ts'

/**
 * Joins two new namespaces by a veth pair whose ends delay what leaves them.
 */
export function startNetem (names: { listener: string, dialler: string }, addresses: { listener: string, dialler: string }, shape: LinkShape): void {
  addNamespace(names.listener)
  addNamespace(names.dialler)
  exec('ip', 'link', 'add', names.listener, 'type', 'veth', 'peer', 'name', names.dialler)

  for (const end of ['listener', 'dialler'] as const) {
    addDevice(names[end], names[end], addresses[end])
    exec('tc', '-n', names[end], 'qdisc', 'add', 'dev', names[end], 'root', 'netem', ...netemArguments(shape))
  }
}

/**
 * Where we say that a packet may be later, netem adds or takes: its jitter is to
 * either side. It may also let packets overtake each other, as the relay does not.
 *
 * The limit counts the packets in flight: the default of 1,000 would be 300
 * Mbit/s at 40 ms.
 */
export function netemArguments (shape: LinkShape): string[] {
  const { delay, jitter = 0 } = shape
  const args = ['limit', '100000', 'delay', `${delay + jitter / 2}ms`]

  if (jitter > 0) {
    args.push(`${jitter / 2}ms`)
  }

  if (shape.loss != null) {
    args.push('loss', `${shape.loss * 100}%`)
  }

  if (shape.rate != null) {
    args.push('rate', `${shape.rate}bit`)
  }

  return args
}
