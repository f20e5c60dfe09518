import { averages } from '../measurements.ts'
import { shuffled } from '../run/random.ts'
import { calibrate, calibrateTimes } from './calibrate.ts'
import { countAllocations, countWriteCalls } from './counting-round.ts'
import { startPair } from './pair.ts'
import { percentilesOf, timeSlice } from './timed-slice.ts'
import type { Field } from './fields.ts'
import type { Pair } from './pair.ts'
import type { Work } from './report.ts'
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

  /**
   * How many times as many a slice of each of the rivals has
   */
  readonly #times = new Map<Contender, number>()

  constructor (field: Field, init: FieldMeasurementInit) {
    this.#field = field
    this.#init = init
  }

  /**
   * How often `onStep` will be called, at most.
   */
  get steps (): number {
    const { length } = this.#field.rivals

    return 1 + length + (length + 1) * this.#init.mostRounds + this.#counted.length
  }

  /**
   * Decides on the work of a slice. All do the same operations in one go, since what
   * is under way at a time decides whether windows and buffers fill up. But all work
   * for about the same time: where one is five times as fast, its few moments would
   * be what scatters, and it would not even be warm.
   */
  async calibrate (): Promise<Work> {
    const { row, rivals } = this.#field
    const { warmUp } = this.#init

    this.#step('calibrating')
    this.#operations = await calibrate(await this.#take(rivals[0]), row, this.#sliceTarget, warmUp)

    for (const contender of rivals) {
      this.#step(`calibrating ${contender.name}`)
      this.#times.set(contender, await calibrateTimes(await this.#take(contender), this.#operations, this.#sliceTarget, warmUp))
      await this.#giveBack(contender)
    }

    return { operations: this.#operations, times: Object.fromEntries(rivals.map(contender => [contender.name, this.#timesOf(contender)])) }
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

    const isNew = this.#pairs.size === 0

    await Promise.all(rivals.map(async contender => this.#take(contender)))

    for (const contender of shuffled(rivals, random)) {
      this.#step(`round ${round}, warming up ${contender.name}`)
      await this.#warmUp(contender, isNew)
    }

    this.#step(`round ${round}, ${slices} slices of each`)

    for (let slice = 0; slice < slices; slice++) {
      for (const contender of shuffled(rivals, random)) {
        measured.get(contender)?.push(await timeSlice(await this.#take(contender), row, this.#operations, this.#timesOf(contender)))
      }
    }

    for (const [contender, repetitions] of measured) {
      onMeasured(contender, averages(repetitions))
      onMeasured(contender, await percentilesOf(await this.#take(contender)))

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

  get #sliceTarget (): number {
    return this.#init.target / this.#init.slices
  }

  #timesOf (contender: Contender): number {
    return this.#times.get(contender) ?? 1
  }

  #step (message: string): void {
    this.#init.onStep(`${this.#field.row.name}, ${this.#field.level} level: ${message}`)
  }

  async #take (contender: Contender): Promise<Pair> {
    const pair = this.#pairs.get(contender) ?? await startPair(contender, this.#field.row, { execArgv: () => this.#init.nodeOptions })
    this.#pairs.set(contender, pair)

    return pair
  }

  async #warmUp (contender: Contender, isNew: boolean): Promise<void> {
    const times = this.#timesOf(contender) * this.#init.warmUp / this.#sliceTarget
    const pair = await this.#take(contender)
    await pair.dialler.ask('run', this.#operations, Math.ceil(isNew ? times : times / 10))
    // of which nothing is to be said
    await percentilesOf(pair)
  }

  async #giveBack (contender: Contender): Promise<void> {
    await this.#pairs.get(contender)?.end()
    this.#pairs.delete(contender)
  }
}
