import { keep } from './keep.ts'
import { endNames, removeNamespace, removeStale } from './namespaces.ts'
import { startNetem } from './netem.ts'
import { startRelay } from './relay.ts'
import type { LinkShape } from './link.ts'
import type { Relay } from './relay.ts'

/**
 * A process that keeps a link made of namespaces.
 */

const HOSTS = { listener: '10.203.0.1', dialler: '10.203.0.2' }
const ADDRESSES = { listener: `${HOSTS.listener}/30`, dialler: `${HOSTS.dialler}/30` }

const names = endNames(process.pid)
let relay: Relay | undefined

async function make (kind: 'netem' | 'relay', shape: LinkShape): Promise<{ namespaces: typeof names, listenHost: string }> {
  removeStale()

  if (kind === 'netem') {
    startNetem(names, ADDRESSES, shape)
  } else {
    relay = await startRelay(names, ADDRESSES, shape)
  }

  return { namespaces: names, listenHost: HOSTS.listener }
}

keep(make, async () => {
  await relay?.close()
  removeNamespace(names.listener)
  removeNamespace(names.dialler)
})

export type MakeLink = typeof make
