import { keep } from './keep.ts'
import { addNamespace, endNames, removeNamespace, removeStale, setCongestion } from './namespaces.ts'
import { joinByNetem } from './netem.ts'
import { startCable } from './relay.ts'
import type { LinkEnd, LinkShape, Loss, Traffic } from './link.ts'
import type { CableEnd, Relay } from './relay.ts'

/** A process that keeps a link made of namespaces. */

const LISTENER = '10.203.0.1'
const DIALER = '10.203.0.2'

const names = endNames(process.pid)
const ends: [CableEnd, CableEnd] = [
  { namespace: names.listener, device: names.listener, address: `${LISTENER}/30` },
  { namespace: names.dialer, device: names.dialer, address: `${DIALER}/30` }
]
let relay: Relay | undefined

async function make (kind: 'netem' | 'relay', shape: LinkShape): Promise<{ namespaces: typeof names, listenHost: string }> {
  removeStale()
  ends.forEach(({ namespace }) => { addNamespace(namespace) })

  if (kind === 'netem') {
    joinByNetem(ends, shape)
  } else {
    relay = await startCable(ends, shape)
  }

  if (shape.congestion != null) {
    setCongestion(names.listener, names.listener, DIALER, shape.congestion)
    setCongestion(names.dialer, names.dialer, LISTENER, shape.congestion)
  }

  return { namespaces: names, listenHost: LISTENER }
}

const relayTasks = {
  traffic (): Record<LinkEnd, Traffic> {
    const [listener, dialer] = startedRelay().directions

    return { listener: listener.traffic(), dialer: dialer.traffic() }
  },

  lose (loss: Loss): void {
    startedRelay().directions.forEach(direction => { direction.lose(loss) })
  }
}

function startedRelay (): Relay {
  if (relay == null) {
    throw new Error('The link has no relay')
  }

  return relay
}

keep(make, async () => {
  await relay?.close()
  ends.forEach(({ namespace }) => { removeNamespace(namespace) })
}, relayTasks)

export type RelayTasks = typeof relayTasks

export type MakeLink = typeof make
