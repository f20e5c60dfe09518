import { startWorker } from '../../../benchmarks/run/worker.ts'
import { scriptPath } from '../../../benchmarks/script-path.ts'
import type { KeeperTasks } from './keeper.ts'
import type { Network, NetworkShape, Place } from './network.ts'

export interface Lab extends Network {
  shape: NetworkShape

  /** The command line that runs this command line in one place */
  commandAt(place: Place, command: string[]): string[]
  close(): Promise<void>
}

/**
 * @param shape - what the NATs are like
 * @param publicHosts - further addresses of the relay's host
 * @throws {Error} with what is missing, if this machine cannot do that
 */
export async function openLab (shape: NetworkShape, publicHosts: string[] = []): Promise<Lab> {
  const keeper = await startWorker<KeeperTasks>({ script: scriptPath(import.meta.url, 'keeper'), name: 'The keeper of the NAT lab', detached: true })
  const made = await keeper.ask('make', shape, publicHosts)

  if (made.status === 'failed') {
    await keeper.end()
    throw new Error(made.reason)
  }

  return {
    ...made.network,
    shape,
    commandAt: (place, command) => ['ip', 'netns', 'exec', made.network.namespaces[place], ...command],
    close: async () => keeper.end()
  }
}
