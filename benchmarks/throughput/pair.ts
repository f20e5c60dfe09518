import { addressOf } from '../../test/lab/peers/address.ts'
import { endBoth, startEnds } from '../../test/lab/process/ends.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import type { Row } from './rows/row.ts'
import type { ThroughputTasks } from './worker.ts'
import type { Contender } from '../../test/lab/peers/contender.ts'
import type { Ends } from '../../test/lab/process/ends.ts'
import type { End } from '../../test/lab/process/own-core.ts'

/** Both ends of a contender in a row, connected. */
export interface Pair extends Ends<ThroughputTasks> {
  port: number
  end(): Promise<void>
}

export interface PairInit {
  execArgv?(end: End): string[]

  /** A command that runs an end, see `WorkerInit`. */
  under?(end: End): string[]
}

export async function startPair ({ level, name }: Contender, row: Row, init: PairInit = {}): Promise<Pair> {
  const ends = await startEnds<ThroughputTasks>(end => ({
    script: scriptPath(import.meta.url, 'worker'),
    args: [level, name, row.name],
    name: `${row.name}, ${name}, ${level} level, ${end}`,
    execArgv: init.execArgv?.(end),
    under: init.under?.(end)
  }))

  try {
    const address = await ends.listener.ask('listen')
    await ends.dialer.ask('connect', address)

    return { ...ends, port: addressOf(address).port, end: async () => endBoth(ends) }
  } catch (err) {
    await endBoth(ends)
    throw err
  }
}
