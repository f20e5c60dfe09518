import { performance } from 'node:perf_hooks'
import { costTasks } from '../../test/lab/measure/cost.ts'
import { memoryTasks } from '../../test/lab/measure/memory.ts'
import { withoutPeer } from '../../test/lab/peers/address.ts'
import { openAmongAll } from '../../test/lab/peers/registry.ts'
import { serve } from '../../test/lab/process/serve.ts'
import { LatencyRecorder } from './latency.ts'
import { rowNamed } from './rows/registry.ts'
import type { Latency } from './latency.ts'
import type { Session } from './rows/row.ts'

/** One end of one row for one contender: `worker <level> <contender> <row>`. */

const RUN_TIMEOUT = 120_000

const [level, name, rowName] = process.argv.slice(2)
const row = rowNamed(rowName)
const peer = await openAmongAll(level, name)
const recorder = new LatencyRecorder(row.batch?.messages)
let session: Session | undefined

const tasks = {
  ...costTasks(),
  ...memoryTasks(),

  async listen (): Promise<string> {
    const [address] = await peer.listen(['127.0.0.1'], channel => { row.serve(channel) })

    return withoutPeer(address)
  },

  async connect (address: string): Promise<void> {
    const connection = await peer.dial(address)

    session = { peer, address, connection, channel: await connection.open() }
  },

  /** @returns how long it took to do so many operations so many times, in ms */
  async run (count: number, times = 1): Promise<number> {
    if (session == null) {
      throw new Error('Not connected')
    }

    const timer = setTimeout(() => { throw new Error(`${rowName}: ${times} times ${count} operations of ${name}, ${level} level, did not end within ${RUN_TIMEOUT} ms`) }, RUN_TIMEOUT)
    let milliseconds = 0

    for (let i = 0; i < times; i++) {
      recorder.start()
      const started = performance.now()
      await row.run(session, count, recorder.lap)
      milliseconds += performance.now() - started
    }

    clearTimeout(timer)

    return milliseconds
  },

  /** Of all operations since this was asked last. */
  latency: (): Latency => recorder.take()
}

export type ThroughputTasks = typeof tasks

serve(tasks)
