import { startWorker } from '../process/worker.ts'
import { scriptPath } from '../script-path.ts'
import type { KeeperTasks } from './keep.ts'
import type { MakeLink, RelayTasks } from './keeper.ts'
import type { LinkParts, LinkShape } from './link.ts'
import type { Tasks } from '../process/serve.ts'
import type { Worker } from '../process/worker.ts'

const TITLES = {
  netem: 'netem link: two network namespaces joined by veth, delayed by tc netem',
  relay: 'relay link: two network namespaces joined by TUN devices, delayed by a userspace relay'
}

/**
 * A link between two network namespaces.
 *
 * @throws {Error} with the reason, if this machine cannot make it
 */
export async function namespaceLink (kind: 'netem' | 'relay', shape: LinkShape): Promise<LinkParts> {
  const { made: { namespaces, listenHost }, keeper, close } = await startKeeper<MakeLink, RelayTasks>(scriptPath(import.meta.url, 'keeper'), kind, shape)

  return {
    kind,
    title: TITLES[kind],
    hiddenRoundTrips: 0,
    listenHost,
    dialAddress: async port => ({ host: listenHost, port }),
    commandAt: (end, command) => ['ip', 'netns', 'exec', namespaces[end], ...command],
    ...(kind === 'relay' ? { traffic: async () => keeper.ask('traffic'), lose: async loss => keeper.ask('lose', loss) } : {}),
    close
  }
}

interface Kept<Make extends (...parameters: any[]) => Promise<any>, More extends Tasks> {
  made: Awaited<ReturnType<Make>>

  /** To ask it what it can do besides */
  keeper: Pick<Worker<More>, 'ask'>
  close(): Promise<void>
}

/**
 * Runs a script that calls `keep`, and has it make what it keeps.
 *
 * @throws {Error} with the reason, if this machine cannot make it
 */
export async function startKeeper<Make extends (...parameters: any[]) => Promise<any>, More extends Tasks = Record<never, never>> (script: string, ...parameters: Parameters<Make>): Promise<Kept<Make, More>> {
  const keeper = await startWorker<KeeperTasks<Make>>({ script, name: 'The keeper', detached: true })
  const outcome = await keeper.ask('make', ...parameters)

  if ('failed' in outcome) {
    await keeper.end()
    throw new Error(outcome.failed)
  }

  return { made: outcome.made, keeper: keeper as Worker<any>, close: async () => keeper.end() }
}
