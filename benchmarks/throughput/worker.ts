import { performance } from 'node:perf_hooks'
import { openContender } from '../contenders/registry.ts'
import { costTasks } from '../workers/cost.ts'
import { memoryTasks } from '../workers/memory.ts'
import { serve } from '../workers/serve.ts'
import { LatencyRecorder } from './latency.ts'
import { rowNamed } from './rows/registry.ts'
import type { Latency } from './latency.ts'
import type { Session } from './rows/row.ts'

/**
 * One end of one row for one contender: `worker <level> <contender> <row>`.
 */

export interface Run {
  milliseconds: number
  latency: Latency
}

const RUN_TIMEOUT = 120_000

const [level, name, rowName] = process.argv.slice(2)
const row = rowNamed(rowName)
const peer = await openContender(level, name)
let session: Session | undefined

const tasks = {
  ...costTasks(),
  ...memoryTasks(),

  async listen (): Promise<string> {
    const [address] = await peer.listen(['127.0.0.1'], channel => { row.serve(channel) })

    return address
  },

  async connect (address: string): Promise<void> {
    const connection = await peer.dial(address)

    session = { peer, address, connection, channel: await connection.open() }
  },

  async run (count: number): Promise<Run> {
    if (session == null) {
      throw new Error('Not connected')
    }

    const timer = setTimeout(() => { throw new Error(`${rowName}: ${count} operations of ${name}, ${level} level, did not end within ${RUN_TIMEOUT} ms`) }, RUN_TIMEOUT)
    const recorder = new LatencyRecorder(row.batch?.messages)
    const started = performance.now()
    await row.run(session, count, recorder.lap)
    clearTimeout(timer)

    return {
      milliseconds: performance.now() - started,
      latency: recorder.latency()
    }
  }
}

export type ThroughputTasks = typeof tasks

serve(tasks)
