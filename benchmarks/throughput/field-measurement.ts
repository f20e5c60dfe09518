import { averages } from '../../test/lab/measure/measurements.ts'
import { shuffled } from '../../test/lab/process/random.ts'
import { calibrate, timeGo, timesAsMuch } from './calibrate.ts'
import { countAllocations, countWriteCalls } from './counting-round.ts'
import { startPair } from './pair.ts'
import { percentilesOf, timeSlice } from './timed-slice.ts'
import type { Field } from './fields.ts'
import type { Pair } from './pair.ts'
import type { ThroughputOptions, Work } from './report.ts'
import type { Measurements } from '../../test/lab/measure/measurements.ts'
import type { Contender } from '../../test/lab/peers/contender.ts'

export interface FieldMeasurementInit extends Pick<ThroughputOptions, 'rounds' | 'mostRounds' | 'slices' | 'target' | 'warmUp' | 'freshProcesses' | 'nodeOptions' | 'counts'> {
  writeCalls: boolean
  random(): number
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

  /** Those of the rivals that run */
  readonly #pairs = new Map<Contender, Pair>()

  /** How many there are in one batch. */
  #operations = 1

  /** How long a go of the slowest rival takes, in ms. */
  #go = 1

  /** How many times as much as the slowest one each rival does. */
  readonly #timesAsMuch = new Map<Contender, number>()

  constructor (field: Field, init: FieldMeasurementInit) {
    this.#field = field
    this.#init = init
  }

  /** How often `onStep` will be called, at most. */
  get steps (): number {
    const { length } = this.#field.rivals

    return 1 + length + (length + 1) * this.#init.mostRounds + this.#counted.length
  }

  /**
   * Decides on the work of a slice. All do as many operations in one batch, since how
   * much is under way decides whether windows and buffers fill up. But who is much
   * faster than others does more of it: its few moments would be what scatters, and it
   * would not even be warm.
   */
  async calibrate (): Promise<Work> {
    const { row, rivals } = this.#field
    const { warmUp } = this.#init

    this.#step('calibrating')
    this.#operations = await calibrate(await this.#take(rivals[0]), row, this.#slice, warmUp)

    const goes = new Map<Contender, number>()

    for (const contender of rivals) {
      this.#step(`calibrating ${contender.name}`)
      // the first is warm
      goes.set(contender, await timeGo(await this.#take(contender), this.#operations, contender === rivals[0] ? 0 : warmUp))
      await this.#giveBack(contender)
    }

    this.#go = Math.max(...goes.values())
    goes.forEach((go, contender) => this.#timesAsMuch.set(contender, timesAsMuch(go, this.#go)))

    return { operations: this.#operations, times: Object.fromEntries(rivals.map(contender => [contender.name, this.#timesIn(this.#slice, contender)])) }
  }

  /**
   * A sample of each rival. They work by turns, a slice of the round each, since
   * the machine is faster at one moment than at the next. A sample is the average of
   * the slices, a percentile that of all their operations.
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
        measured.get(contender)?.push(await timeSlice(await this.#take(contender), row, this.#operations, this.#timesIn(this.#slice, contender)))
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

  /** In ms */
  get #slice (): number {
    return this.#init.target / this.#init.slices
  }

  /** How many goes of a rival make about so many ms. */
  #timesIn (milliseconds: number, contender: Contender): number {
    return Math.max(1, Math.round(milliseconds / this.#go)) * (this.#timesAsMuch.get(contender) ?? 1)
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
    const { warmUp } = this.#init
    const pair = await this.#take(contender)
    await pair.dialer.ask('run', this.#operations, this.#timesIn(isNew ? warmUp : warmUp / 10, contender))
    // of which nothing is to be said
    await percentilesOf(pair)
  }

  async #giveBack (contender: Contender): Promise<void> {
    await this.#pairs.get(contender)?.end()
    this.#pairs.delete(contender)
  }
}
