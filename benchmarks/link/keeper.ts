import { tell } from '../workers/serve.ts'
import { endNames, removeNamespace, removeStale } from './namespaces.ts'
import { startNetem } from './netem.ts'
import { startRelay } from './relay.ts'
import type { LinkShape } from './link.ts'
import type { Relay } from './relay.ts'

/**
 * A process that owns a link made of namespaces. It removes the link when its
 * channel to the process that asked for it closes, in whatever way that process
 * ended, and on a signal.
 */

export interface KeeperRequest {
  kind: 'netem' | 'relay'
  shape: LinkShape
}

export type KeeperReply =
  { type: 'ready', namespaces: { listener: string, dialler: string }, listenHost: string } |
  { type: 'failed', reason: string }

const HOSTS = { listener: '10.203.0.1', dialler: '10.203.0.2' }
const ADDRESSES = { listener: `${HOSTS.listener}/30`, dialler: `${HOSTS.dialler}/30` }

const names = endNames(process.pid)
let making: Promise<unknown> | undefined
let relay: Relay | undefined
let made = false
let removing: Promise<void> | undefined

async function remove (): Promise<void> {
  await making
  await relay?.close()

  if (made) {
    removeNamespace(names.listener)
    removeNamespace(names.dialler)
  }

  process.exit()
}

async function make ({ kind, shape }: KeeperRequest): Promise<KeeperReply> {
  if (process.getuid?.() !== 0) {
    return { type: 'failed', reason: 'needs root' }
  }

  try {
    removeStale()
    made = true

    if (kind === 'netem') {
      startNetem(names, ADDRESSES, shape)
    } else {
      relay = await startRelay(names, ADDRESSES, shape)
    }

    return { type: 'ready', namespaces: names, listenHost: HOSTS.listener }
  } catch (err: any) {
    return { type: 'failed', reason: err.message }
  }
}

function removeOnce (): void {
  removing ??= remove()
}

// more than one of them may come
for (const event of ['disconnect', 'SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(event, removeOnce)
}

process.once('message', (request: KeeperRequest) => {
  making = make(request).then(tell)
})

// it may have closed while we were loading
if (!process.connected) {
  process.exit()
}
