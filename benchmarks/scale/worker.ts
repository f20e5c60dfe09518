import { setTimeout as wait } from 'node:timers/promises'
import { costTasks } from '../../test/lab/measure/cost.ts'
import { memoryTasks } from '../../test/lab/measure/memory.ts'
import { withoutPeer } from '../../test/lab/peers/address.ts'
import { openAmongAll } from '../../test/lab/peers/registry.ts'
import { serve } from '../../test/lab/process/serve.ts'
import type { Dialed } from '../../test/lab/peers/contender.ts'

/** One end of many connections of one contender: `worker <level> <contender>`. */

/** How often it is looked at how many connections there are, in ms, and the most of the time that it may take */
const POLL = 2
const POLL_SHARE = 0.02

const [level, name] = process.argv.slice(2)
const peer = await openAmongAll(level, name)
const connections: Dialed[] = []
let allClosed: Promise<void> | undefined

const tasks = {
  ...costTasks(),
  ...memoryTasks(),

  listen: async (hosts: string[]): Promise<string[]> => (await peer.listen(hosts)).map(withoutPeer),

  /**
   * Dials until there are so many connections. At each address one dial is under way at
   * a time: libp2p joins dials of the same address.
   *
   * @returns how long it took, in ms
   */
  async dial (addresses: string[], count: number): Promise<number> {
    const started = performance.now()
    let begun = 0

    await Promise.all(addresses.map(async address => {
      while (begun < count) {
        begun++
        connections.push(await peer.dial(address))
      }
    }))

    return performance.now() - started
  },

  connections: (): number => peer.connections(),

  async closeAll (): Promise<void> {
    await Promise.all(connections.splice(0).map(async connection => connection.close()))
  },

  /** Not before it must: the listeners take memory. */
  watchClosing (): void {
    allClosed = peer.allClosed()
  },

  /** Resolves when all connections that there were at `watchClosing` are closed. */
  allClosed: async (): Promise<void> => allClosed,

  /** Resolves when there are as many connections. */
  async reached (count: number): Promise<void> {
    while (true) {
      const started = performance.now()

      if (peer.connections() === count) {
        return
      }

      await wait(Math.max(POLL, (performance.now() - started) / POLL_SHARE))
    }
  }
}

export type ScaleTasks = typeof tasks

serve(tasks)
