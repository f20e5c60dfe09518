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
const TIMEOUT = 60_000

const [level, name] = process.argv.slice(2)
const peer = await openAmongAll(level, name)
const connections: Dialed[] = []

const tasks = {
  ...costTasks(),
  ...memoryTasks(),

  listen: async (hosts: string[]): Promise<string[]> => (await peer.listen(hosts)).map(withoutPeer),

  /** Dials until there are so many connections, one at a time at each address: libp2p joins dials of one address */
  async dial (addresses: string[], count: number): Promise<void> {
    let begun = 0

    await Promise.all(addresses.map(async address => {
      while (begun < count) {
        begun++
        connections.push(await peer.dial(address))
      }
    }))
  },

  connections: (): number => peer.connections(),

  async closeAll (): Promise<void> {
    await Promise.all(connections.splice(0).map(async connection => connection.close()))
  },

  /** Resolves when there are so many connections. */
  async reached (count: number): Promise<void> {
    const until = performance.now() + TIMEOUT

    for (let started = performance.now(); peer.connections() !== count; started = performance.now()) {
      if (started > until) {
        throw new Error(`Not ${count} but ${peer.connections()} connections after ${TIMEOUT} ms`)
      }

      await wait(Math.max(POLL, (performance.now() - started) / POLL_SHARE))
    }
  }
}

export type ScaleTasks = typeof tasks

serve(tasks)
