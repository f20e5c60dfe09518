import { contenders } from '../contenders/registry.ts'
import { SeriesList } from '../series.ts'
import { interruptible } from '../workers/interrupt.ts'
import { calibrate } from './calibrate.ts'
import { countAllocations, countWriteCalls } from './counting-round.ts'
import { describeRun } from './machine.ts'
import { startPair } from './pair.ts'
import { rowNamed, rows } from './rows/registry.ts'
import { seededRandom, shuffled } from './seeded-order.ts'
import { timeRound } from './timed-round.ts'
import { whyNoTracing } from './write-calls.ts'
import type { Pair } from './pair.ts'
import type { Contender, Level } from '../contenders/contender.ts'
import type { SuiteResult } from '../series.ts'
import type { Row } from './rows/row.ts'
import type { Measurements } from './timed-round.ts'

export interface ThroughputOptions {
  /** Names; by default all */
  rows?: string[]
  levels?: Level[]
  rivals?: string[]

  rounds: number

  /** How long a round should take, in ms */
  target: number
  seed: number

  /** New processes for every round: what the JIT and the addresses happen to be is noise as well */
  freshProcesses: boolean

  /** Also count allocations and write calls */
  counts: boolean

  onProgress(message: string): void
}

/**
 * How long new processes work before they are measured, in ms: until the code
 * is compiled and buffers have grown.
 */
const WARM_UP = 400

export async function runThroughput (options: ThroughputOptions): Promise<SuiteResult> {
  return interruptible(async () => measureRows(options))
}

export function selectedRows (names?: string[]): Row[] {
  return names?.map(rowNamed) ?? rows.filter(row => row.extra !== true)
}

async function measureRows (options: ThroughputOptions): Promise<SuiteResult> {
  const { levels, rivals, seed, onProgress } = options
  const list = new SeriesList()
  const random = seededRandom(seed)
  const operations: Record<string, number> = {}
  const notes: string[] = []
  const noTracing = options.counts ? whyNoTracing() : undefined
  const field = contenders.filter(({ level, name }) => levels?.includes(level) !== false && rivals?.includes(name) !== false)
  const chosenRows = selectedRows(options.rows)

  if (noTracing != null) {
    notes.push(`Write calls were not counted: ${noTracing}`)
    onProgress(notes[0])
  }

  for (const row of chosenRows) {
    for (const level of row.levels) {
      const rivals = field.filter(contender => contender.level === level)

      if (rivals.length > 0) {
        operations[`${row.name} ${level}`] = await measureRow(row, rivals)
      }
    }
  }

  /** @returns how many operations a round has */
  async function measureRow (row: Row, rivals: Contender[]): Promise<number> {
    const title = `${row.name}, ${rivals[0].level} level`
    const pairs = new Map<Contender, Pair>()

    const record = (contender: Contender, measurements: Measurements): void => {
      for (const { metric, unit, value } of measurements) {
        list.add({ row: row.name, level: contender.level, rival: contender.name, metric }, unit, value)
      }
    }
    const take = async (contender: Contender): Promise<Pair> => {
      const waiting = pairs.get(contender)

      if (waiting != null) {
        return waiting
      }

      const pair = await startPair(contender, row)
      pairs.set(contender, pair)

      return pair
    }
    const takeWarm = async (contender: Contender): Promise<Pair> => {
      const isNew = !pairs.has(contender)
      const pair = await take(contender)
      await pair.dialler.ask('run', isNew ? warmUp : Math.ceil(warmUp / 10))

      return pair
    }
    const giveBack = async (contender: Contender): Promise<void> => {
      await pairs.get(contender)?.end()
      pairs.delete(contender)
    }

    onProgress(`${title}: calibrating`)
    const count = await calibrate(await take(rivals[0]), row, options.target, WARM_UP)
    const warmUp = Math.ceil(count * WARM_UP / options.target)
    await giveBack(rivals[0])

    for (let round = 1; round <= options.rounds; round++) {
      for (const contender of shuffled(rivals, random)) {
        onProgress(`${title}: round ${round} of ${options.rounds}, ${count} operations, ${contender.name}`)
        record(contender, await timeRound(await takeWarm(contender), row, count))

        if (options.freshProcesses || round === options.rounds) {
          await giveBack(contender)
        }
      }
    }

    for (const contender of options.counts && row.countable !== false ? rivals : []) {
      onProgress(`${title}: counting, ${contender.name}`)
      record(contender, await countAllocations(contender, row, count))
      record(contender, noTracing == null ? await countWriteCalls(contender, row, count) : [])
    }

    return count
  }

  return {
    name: 'throughput',
    meta: {
      ...describeRun(field),
      seed,
      rounds: options.rounds,
      target: options.target,
      freshProcesses: options.freshProcesses,
      rows: chosenRows.map(({ name, title, bytes, batch, published }) => ({ name, title, bytes, batch, published })),
      operations,
      notes
    },
    samples: list.series
  }
}
