import { shuffled } from '../run/random.ts'
import { WARM_UP, calibrate } from './calibrate.ts'
import { countAllocations, countWriteCalls } from './counting-round.ts'
import { startPair } from './pair.ts'
import { timeRound } from './timed-round.ts'
import type { Pair } from './pair.ts'
import type { Row } from './rows/row.ts'
import type { ThroughputOptions } from './run.ts'
import type { Measurements } from './timed-round.ts'
import type { Contender } from '../contenders/contender.ts'

export interface MeasureRowOptions extends Pick<ThroughputOptions, 'rounds' | 'target' | 'freshProcesses' | 'counts'> {
  writeCalls: boolean
  random(): number

  /**
   * Is told what begins.
   */
  onStep(message: string): void
  onMeasured(contender: Contender, measurements: Measurements): void
}

/**
 * Measures all rivals of one level at one row.
 *
 * @returns how many operations a round has
 */
export async function measureRow (row: Row, rivals: Contender[], options: MeasureRowOptions): Promise<number> {
  const { rounds, freshProcesses, writeCalls, random, onStep, onMeasured } = options
  const length = row.lengthened?.[rivals[0].level] ?? 1
  const target = options.target * length
  const warmUpTarget = WARM_UP * length
  const pairs = new Map<Contender, Pair>()

  async function take (contender: Contender): Promise<Pair> {
    const pair = pairs.get(contender) ?? await startPair(contender, row)
    pairs.set(contender, pair)

    return pair
  }

  async function takeWarm (contender: Contender): Promise<Pair> {
    const isNew = !pairs.has(contender)
    const pair = await take(contender)
    await pair.dialler.ask('run', isNew ? warmUp : Math.ceil(warmUp / 10))

    return pair
  }

  async function giveBack (contender: Contender): Promise<void> {
    await pairs.get(contender)?.end()
    pairs.delete(contender)
  }

  onStep('calibrating')
  const count = await calibrate(await take(rivals[0]), row, target, warmUpTarget)
  const warmUp = Math.ceil(count * warmUpTarget / target)
  await giveBack(rivals[0])

  for (let round = 1; round <= rounds; round++) {
    for (const contender of shuffled(rivals, random)) {
      onStep(`round ${round} of ${rounds}, ${count} operations, ${contender.name}`)
      onMeasured(contender, await timeRound(await takeWarm(contender), row, count))

      if (freshProcesses || round === rounds) {
        await giveBack(contender)
      }
    }
  }

  for (const contender of counted(row, rivals, options)) {
    onStep(`counting, ${contender.name}`)
    onMeasured(contender, await countAllocations(contender, row, count))
    onMeasured(contender, writeCalls ? await countWriteCalls(contender, row, count) : [])
  }

  return count
}

/**
 * How often a row tells what begins.
 */
export function stepsOf (row: Row, rivals: Contender[], options: Pick<MeasureRowOptions, 'rounds' | 'counts'>): number {
  return 1 + rivals.length * options.rounds + counted(row, rivals, options).length
}

function counted (row: Row, rivals: Contender[], { counts }: Pick<MeasureRowOptions, 'counts'>): Contender[] {
  return counts && row.countable !== false ? rivals : []
}
