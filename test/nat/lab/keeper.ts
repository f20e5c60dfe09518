import { readFileSync } from 'node:fs'
import { serve } from '../../../benchmarks/run/serve.ts'
import { makeNetwork, removeNetwork, removeStaleNetworks } from './network.ts'
import type { Network, NetworkShape } from './network.ts'
import type { Relay } from '../../../benchmarks/link/relay.ts'

/**
 * A process that owns a network. It removes it when its channel to the process that asked for
 * it closes, in whatever way that process ended, and on a signal.
 */

export type Made =
  { status: 'made', network: Network } |
  { status: 'failed', reason: string }

const cables: Relay[] = []
let making: Promise<Made> | undefined
let removing: Promise<void> | undefined

const tasks = {
  async make (shape: NetworkShape, publicHosts: string[]): Promise<Made> {
    making = make(shape, publicHosts)

    return making
  }
}

export type KeeperTasks = typeof tasks

async function make (shape: NetworkShape, publicHosts: string[]): Promise<Made> {
  if (process.getuid?.() !== 0) {
    return { status: 'failed', reason: 'needs root' }
  }

  try {
    removeStaleNetworks(isKeeper)

    return { status: 'made', network: await makeNetwork(process.pid, shape, publicHosts, cables) }
  } catch (err: any) {
    return { status: 'failed', reason: err.message }
  }
}

/** The id may have gone to another program since */
function isKeeper (pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('keeper')
  } catch {
    return false
  }
}

async function remove (): Promise<void> {
  await making
  await Promise.all(cables.map(async cable => cable.close()))

  if (making != null && process.getuid?.() === 0) {
    removeNetwork(process.pid)
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
