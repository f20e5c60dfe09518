import { addressOf } from '../contenders/address.ts'
import { keepOnOwnCore } from '../run/own-core.ts'
import { startWorker } from '../run/worker.ts'
import { scriptPath } from '../script-path.ts'
import type { Contender } from '../contenders/contender.ts'
import type { Row } from './rows/row.ts'
import type { ThroughputTasks } from './worker.ts'
import type { End } from '../run/own-core.ts'
import type { Worker } from '../run/worker.ts'

/**
 * Both ends of a contender in a row, each in a process of its own, connected.
 */
export interface Pair {
  dialler: Worker<ThroughputTasks>
  listener: Worker<ThroughputTasks>
  port: number
  end(): Promise<void>
}

export interface PairInit {
  /**
   * Options for Node.
   */
  execArgv?(end: End): string[]

  /**
   * A command that runs an end, see `WorkerInit`.
   */
  under?(end: End): string[]
}

export async function startPair (contender: Contender, row: Row, init: PairInit = {}): Promise<Pair> {
  const start = async (end: End): Promise<Worker<ThroughputTasks>> => startWorker<ThroughputTasks>({
    script: scriptPath(import.meta.url, 'worker'),
    args: [contender.level, contender.name, row.name],
    name: `${row.name}, ${contender.name}, ${contender.level} level, ${end}`,
    execArgv: init.execArgv?.(end),
    under: init.under?.(end)
  })
  const [dialler, listener] = await Promise.all([start('dialler'), start('listener')])
  const end = async (): Promise<void> => {
    await Promise.all([dialler.end(), listener.end()])
  }

  try {
    await Promise.all([keepOnOwnCore('dialler', dialler.pid), keepOnOwnCore('listener', listener.pid)])
    const address = await listener.ask('listen')
    await dialler.ask('connect', address)

    return { dialler, listener, port: addressOf(address).port, end }
  } catch (err) {
    await end()
    throw err
  }
}
