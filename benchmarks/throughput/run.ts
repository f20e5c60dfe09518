import { environment } from '../report/environment.ts'
import { progress } from '../run/progress.ts'
import { seededRandom } from '../run/random.ts'
import { SeriesList, describeRivals } from '../series.ts'
import { withWorkers } from '../workers/start-worker.ts'
import { fieldsOf } from './fields.ts'
import { measureRow, stepsOf } from './measure-row.ts'
import { describeRow } from './report.ts'
import { whyNoSegments } from './segments.ts'
import { whyNoTracing } from './write-calls.ts'
import type { ThroughputReport } from './report.ts'
import type { Row } from './rows/row.ts'
import type { Contender } from '../contenders/contender.ts'

export interface ThroughputOptions {
  /**
   * What to type to do this again.
   */
  command: string
  rows: Row[]
  contenders: Contender[]

  rounds: number

  /**
   * How long a round should take, in ms.
   */
  target: number

  /**
   * For the order within the rounds.
   */
  seed: number

  /**
   * New processes for every round: what the JIT and the addresses happen to be is
   * noise as well.
   */
  freshProcesses: boolean

  /**
   * Also count allocations and write calls.
   */
  counts: boolean
}

export async function runThroughput (options: ThroughputOptions): Promise<ThroughputReport> {
  const { command, seed, rounds, target, freshProcesses, counts, rows, contenders } = options
  const list = new SeriesList()
  const random = seededRandom(seed)
  const operations: Record<string, number> = {}
  const noTracing = counts ? whyNoTracing() : undefined
  const noSegments = whyNoSegments()
  const fields = fieldsOf(rows, contenders)
  const shown = progress(fields.reduce((sum, { row, rivals }) => sum + stepsOf(row, rivals, options), 0))

  try {
    await withWorkers(async () => {
      for (const { row, level, rivals } of fields) {
        operations[`${row.name} ${level}`] = await measureRow(row, rivals, {
          ...options,
          writeCalls: counts && noTracing == null,
          random,
          onStep: message => { shown.step(`${row.name}, ${level} level: ${message}`) },
          onMeasured ({ name }, measurements) {
            measurements.forEach(({ metric, unit, value }) => { list.add({ row: row.name, level, rival: name, metric }, unit, value) })
          }
        })
      }
    })
  } finally {
    shown.stop()
  }

  return {
    benchmark: 'throughput',
    ...environment(command),
    rivals: describeRivals(contenders),
    seed,
    rounds,
    target,
    freshProcesses,
    rows: rows.map(describeRow),
    operations,
    notes: [
      ...(noTracing == null ? [] : [`Write calls were not counted: ${noTracing}.`]),
      ...(noSegments == null ? [] : [`Segments were not counted: ${noSegments}.`])
    ],
    samples: list.series
  }
}
