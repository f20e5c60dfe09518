import { isDeepStrictEqual } from 'node:util'
import { startKeeper } from '../../lab/link/namespace-link.ts'
import { scriptPath } from '../../lab/script-path.ts'
import type { MakeNetwork } from './keeper.ts'
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
  const { made, close } = await startKeeper<MakeNetwork>(scriptPath(import.meta.url, 'keeper'), shape, publicHosts)

  return {
    ...made,
    shape,
    commandAt: (place, command) => ['ip', 'netns', 'exec', made.namespaces[place], ...command],
    close
  }
}

/** One network at a time: it stays while the next is to be the same */
export class KeptLab {
  #lab?: Lab

  async open (shape: NetworkShape): Promise<Lab> {
    if (!isDeepStrictEqual(this.#lab?.shape, shape)) {
      await this.close()
      this.#lab = await openLab(shape)
    }

    return this.#lab as Lab
  }

  async close (): Promise<void> {
    const lab = this.#lab
    this.#lab = undefined
    await lab?.close()
  }
}
