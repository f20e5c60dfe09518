import { performance } from 'node:perf_hooks'
import { costTasks } from '../../test/lab/measure/cost.ts'
import { memoryTasks } from '../../test/lab/measure/memory.ts'
import { withoutPeer } from '../../test/lab/peers/address.ts'
import { openAmongAll } from '../../test/lab/peers/registry.ts'
import { serve } from '../../test/lab/process/serve.ts'
import { rowNamed } from './rows/registry.ts'
import type { Session } from './rows/row.ts'

/** One end of one row for one contender: `worker <level> <contender> <row>`. */

const TIMEOUT = 120_000

const [level, name, rowName] = process.argv.slice(2)
const row = rowNamed(rowName)
const peer = await openAmongAll(level, name)
let session: Session | undefined

function connected (): Session {
  if (session == null) {
    throw new Error('Not connected')
  }

  return session
}

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

  /** Batches until so many ms have passed */
  async run (least: number): Promise<{ operations: number, milliseconds: number }> {
    if ('idle' in row) {
      throw new Error(`${rowName} has no operations`)
    }

    const timer = setTimeout(() => { throw new Error(`A batch of ${row.batch} did not end within ${TIMEOUT} ms`) }, TIMEOUT)
    const started = performance.now()
    let operations = 0

    while (performance.now() - started < least) {
      await row.run(connected())
      operations += row.batch
      timer.refresh()
    }

    clearTimeout(timer)

    return { operations, milliseconds: performance.now() - started }
  },

  async open (count: number): Promise<void> {
    if (!('idle' in row)) {
      throw new Error(`${rowName} leaves nothing open`)
    }

    for (let i = 0; i < count; i++) {
      await row.open(connected())
    }
  }
}

export type ThroughputTasks = typeof tasks

serve(tasks)
