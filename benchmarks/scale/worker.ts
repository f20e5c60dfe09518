import { setTimeout as wait } from 'node:timers/promises'
import { costTasks } from '../../test/lab/measure/cost.ts'
import { memoryTasks } from '../../test/lab/measure/memory.ts'
import { withoutPeer } from '../../test/lab/peers/address.ts'
import { openAmongAll } from '../../test/lab/peers/registry.ts'
import { serve } from '../../test/lab/process/serve.ts'
import { Dialing } from './dialing.ts'
import type { P50AndP99 } from '../../test/lab/measure/percentiles.ts'
import type { Dialed } from '../../test/lab/peers/contender.ts'

/** One end of many connections of one contender: `worker <level> <contender>`. */

/** How often it is looked at how many connections there are, in ms, and the most of the time that it may take */
const POLL = 2
const POLL_SHARE = 0.02

const [level, name] = process.argv.slice(2)
const peer = await openAmongAll(level, name)
const dialing = new Dialing(peer)
const connections: Dialed[] = []
let allClosed: Promise<void> | undefined

const tasks = {
  ...costTasks(),
  ...memoryTasks(),

  listen: async (hosts: string[]): Promise<string[]> => (await peer.listen(hosts)).map(withoutPeer),

  dial: async (addresses: string[], count: number): Promise<number> => dialing.dial(addresses, count, connections),

  dialTimes: (): P50AndP99 => dialing.take(),

  connections: (): number => peer.connections(),

  async closeAll (): Promise<void> {
    await Promise.all(connections.splice(0).map(async connection => connection.close()))
  },

  /** Of this process so far, in microseconds. */
  cpuTime (): number {
    const { user, system } = process.cpuUsage()

    return user + system
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
