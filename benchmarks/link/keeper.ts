import { serve } from '../run/serve.ts'
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

export type Made =
  { status: 'made', namespaces: { listener: string, dialler: string }, listenHost: string } |
  { status: 'failed', reason: string }

const HOSTS = { listener: '10.203.0.1', dialler: '10.203.0.2' }
const ADDRESSES = { listener: `${HOSTS.listener}/30`, dialler: `${HOSTS.dialler}/30` }

const names = endNames(process.pid)
let making: Promise<Made> | undefined
let relay: Relay | undefined
let removing: Promise<void> | undefined

const tasks = {
  async make (kind: 'netem' | 'relay', shape: LinkShape): Promise<Made> {
    making = make(kind, shape)

    return making
  }
}

export type KeeperTasks = typeof tasks

async function make (kind: 'netem' | 'relay', shape: LinkShape): Promise<Made> {
  if (process.getuid?.() !== 0) {
    return { status: 'failed', reason: 'needs root' }
  }

  try {
    removeStale()

    if (kind === 'netem') {
      startNetem(names, ADDRESSES, shape)
    } else {
      relay = await startRelay(names, ADDRESSES, shape)
    }

    return { status: 'made', namespaces: names, listenHost: HOSTS.listener }
  } catch (err: any) {
    return { status: 'failed', reason: err.message }
  }
}

async function remove (): Promise<void> {
  await making
  await relay?.close()

  if (making != null && process.getuid?.() === 0) {
    removeNamespace(names.listener)
    removeNamespace(names.dialler)
  }

  process.exit()
}

function removeOnce (): void {
  removing ??= remove()
}

// more than one of them may come
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, removeOnce)
}

serve(tasks, removeOnce)
