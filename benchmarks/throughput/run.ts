import { ownCoreNotes } from '../../test/lab/process/own-core.ts'
import { progress } from '../../test/lab/process/progress.ts'
import { seededRandom, shuffled } from '../../test/lab/process/random.ts'
import { withWorkers } from '../../test/lab/process/worker.ts'
import { environment } from '../../test/lab/report/environment.ts'
import { SeriesList, describeRivals } from '../series.ts'
import { FieldMeasurement } from './field-measurement.ts'
import { fieldsOf, isPrecise } from './fields.ts'
import { describeRow } from './report.ts'
import { whyNoSegments } from './segments.ts'
import { whyNoTracing } from './write-calls.ts'
import type { ThroughputOptions, ThroughputReport } from './report.ts'

export async function runThroughput (options: ThroughputOptions): Promise<ThroughputReport> {
  const { command, seed, rounds, mostRounds, precision, target, slices, freshProcesses, nodeOptions, counts, rows, contenders } = options
  const list = new SeriesList()
  const random = seededRandom(seed)
  const work: ThroughputReport['work'] = {}
  const noTracing = counts ? whyNoTracing() : undefined
  const noSegments = whyNoSegments()
  const fields = fieldsOf(rows, contenders).map(field => ({
    ...field,
    key: `${field.row.name} ${field.level}`,
    measurement: new FieldMeasurement(field, {
      ...options,
      writeCalls: counts && noTracing == null,
      random,
      onStep: message => { shown.step(message) },
      onMeasured ({ name }, measurements) {
        list.addAll({ row: field.row.name, level: field.level, rival: name }, measurements)
      }
    })
  }))
  const shown = progress(fields.reduce((sum, { measurement }) => sum + measurement.steps, 0))

  try {
    await withWorkers(async () => {
      for (const { key, measurement } of fields) {
        work[key] = await measurement.calibrate()
      }

      for (const { measurement, round } of roundsOf(fields, options, random)) {
        await measurement.round(round)
      }

      for (let round = rounds + 1; round <= mostRounds; round++) {
        for (const field of shuffled(fields, random).filter(field => !isPrecise(field, list.series, precision))) {
          await field.measurement.round(round)
        }
      }

      for (const { measurement } of fields) {
        await measurement.count()
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
    mostRounds,
    precision,
    target,
    slices,
    freshProcesses,
    rows: rows.map(describeRow),
    work,
    notes: [
      ...ownCoreNotes(),
      ...fields.filter(field => mostRounds > rounds && !isPrecise(field, list.series, precision)).map(({ row, level }) => (
        `After ${mostRounds} rounds a ratio of ${row.name}, ${level} level, still has a standard error of more than ${precision.toLocaleString('en', { style: 'percent', maximumFractionDigits: 1 })}.`
      )),
      ...(nodeOptions.length === 0 ? [] : [`Node was run with ${nodeOptions.join(' ')} while the time was measured.`]),
      ...(noTracing == null ? [] : [`Write calls were not counted: ${noTracing}.`]),
      ...(noSegments == null ? [] : [`Segments were not counted: ${noSegments}.`])
    ],
    samples: list.series
  }
}

/**
 * The rounds of all fields by turns, since the state of the machine changes from
 * one minute to the next. Where processes live for more than a round, field by
 * field, lest there be too many of them.
 */
function roundsOf<Field> (fields: Field[], { rounds, freshProcesses }: ThroughputOptions, random: () => number): Array<Field & { round: number }> {
  const numbers = Array.from({ length: rounds }, (_, index) => index + 1)

  return freshProcesses
    ? numbers.flatMap(round => shuffled(fields, random).map(field => ({ ...field, round })))
    : fields.flatMap(field => numbers.map(round => ({ ...field, round })))
}
