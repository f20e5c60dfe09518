import { startWorker } from '../run/worker.ts'
import { scriptPath } from '../script-path.ts'
import type { KeeperTasks } from './keeper.ts'
import type { LinkParts, LinkShape } from './link.ts'

const TITLES = {
  netem: 'netem link: two network namespaces joined by veth, delayed by tc netem',
  relay: 'relay link: two network namespaces joined by TUN devices, delayed by a userspace relay'
}

/**
 * A link between two network namespaces, kept by a process of its own. Throws
 * with the reason when this machine cannot make it.
 */
export async function namespaceLink (kind: 'netem' | 'relay', shape: LinkShape): Promise<LinkParts> {
  const keeper = await startWorker<KeeperTasks>({ script: scriptPath(import.meta.url, 'keeper'), name: 'The keeper of the link', detached: true })
  const made = await keeper.ask('make', kind, shape)

  if (made.status === 'failed') {
    await keeper.end()
    throw new Error(made.reason)
  }

  return {
    kind,
    title: TITLES[kind],
    hiddenRoundTrips: 0,
    listenHost: made.listenHost,
    dialAddress: async port => ({ host: made.listenHost, port }),
    commandAt: (end, command) => ['ip', 'netns', 'exec', made.namespaces[end], ...command],
    close: async () => keeper.end()
  }
}
