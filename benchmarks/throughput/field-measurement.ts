import { averages } from '../measurements.ts'
import { shuffled } from '../run/random.ts'
import { calibrate } from './calibrate.ts'
import { countAllocations, countWriteCalls } from './counting-round.ts'
import { startPair } from './pair.ts'
import { loopDelays, timeRound } from './timed-round.ts'
import type { Field } from './fields.ts'
import type { Pair } from './pair.ts'
import type { ThroughputOptions } from './run.ts'
import type { Contender } from '../contenders/contender.ts'
import type { Measurements } from '../measurements.ts'

export interface FieldMeasurementInit extends Pick<ThroughputOptions, 'rounds' | 'mostRounds' | 'slices' | 'target' | 'warmUp' | 'freshProcesses' | 'nodeOptions' | 'counts'> {
  writeCalls: boolean
  random(): number

  /**
   * Is told what begins.
   */
  onStep(message: string): void
  onMeasured(contender: Contender, measurements: Measurements): void
}

/**
 * Measures all rivals of one level at one row: first calibrates, then takes one
 * round after another, then counts.
 */
export class FieldMeasurement {
  readonly #field: Field
  readonly #init: FieldMeasurementInit

  /**
   * Those of the rivals that are warm
   */
  readonly #pairs = new Map<Contender, Pair>()
  #operations = 1

  constructor (field: Field, init: FieldMeasurementInit) {
    this.#field = field
    this.#init = init
  }

  /**
   * How often `onStep` will be called, at most.
   */
  get steps (): number {
    return 1 + (this.#field.rivals.length + 1) * this.#init.mostRounds + this.#counted.length
  }

  /**
   * @returns how many operations a slice of a round has
   */
  async calibrate (): Promise<number> {
    const { row, rivals } = this.#field
    const { warmUp } = this.#init

    this.#step('calibrating')
    this.#operations = await calibrate(await this.#take(rivals[0]), row, this.#sliceTarget, warmUp)
    await this.#giveBack(rivals[0])

    return this.#operations
  }

  /**
   * A sample of each rival. They work by turns, a slice of the round each, since
   * the machine is faster at one moment than at the next. The sample is the average
   * of the slices.
   */
  async round (round: number): Promise<void> {
    const { row, rivals } = this.#field
    const { rounds, slices, freshProcesses, random, onMeasured } = this.#init
    const measured = new Map<Contender, Measurements[]>(rivals.map(contender => [contender, []]))

    for (const contender of shuffled(rivals, random)) {
      this.#step(`round ${round}, warming up ${contender.name}`)
      await this.#warmUp(contender)
    }

    this.#step(`round ${round}, ${slices} times ${this.#operations} operations each`)

    for (let slice = 0; slice < slices; slice++) {
      for (const contender of shuffled(rivals, random)) {
        measured.get(contender)?.push(await timeRound(await this.#take(contender), row, this.#operations))
      }
    }

    for (const [contender, repetitions] of measured) {
      onMeasured(contender, averages(repetitions))
      onMeasured(contender, await loopDelays(await this.#take(contender)))

      if (freshProcesses || round === rounds) {
        await this.#giveBack(contender)
      }
    }
  }

  async count (): Promise<void> {
    const { row } = this.#field
    const { writeCalls, onMeasured } = this.#init

    for (const contender of this.#counted) {
      this.#step(`counting, ${contender.name}`)
      onMeasured(contender, await countAllocations(contender, row, this.#operations))
      onMeasured(contender, writeCalls ? await countWriteCalls(contender, row, this.#operations) : [])
    }
  }

  get #counted (): Contender[] {
    return this.#init.counts && this.#field.row.countable !== false ? this.#field.rivals : []
  }

  #step (message: string): void {
    this.#init.onStep(`${this.#field.row.name}, ${this.#field.level} level: ${message}`)
  }

  async #take (contender: Contender): Promise<Pair> {
    const pair = this.#pairs.get(contender) ?? await startPair(contender, this.#field.row, { execArgv: () => this.#init.nodeOptions })
    this.#pairs.set(contender, pair)

    return pair
  }

  async #warmUp (contender: Contender): Promise<void> {
    const operations = Math.ceil(this.#operations * this.#init.warmUp / this.#sliceTarget)
    const isNew = !this.#pairs.has(contender)
    const pair = await this.#take(contender)
    await pair.dialler.ask('run', isNew ? operations : Math.ceil(operations / 10))
  }

  get #sliceTarget (): number {
    return this.#init.target / this.#init.slices
  }

  async #giveBack (contender: Contender): Promise<void> {
    await this.#pairs.get(contender)?.end()
    this.#pairs.delete(contender)
  }
}
