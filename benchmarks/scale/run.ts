import { ownCoreNotes } from '../../test/lab/process/own-core.ts'
import { progress } from '../../test/lab/process/progress.ts'
import { seededRandom, shuffled } from '../../test/lab/process/random.ts'
import { withWorkers } from '../../test/lab/process/worker.ts'
import { environment } from '../../test/lab/report/environment.ts'
import { duration } from '../../test/lab/report/numbers.ts'
import { SeriesList, describeRivals } from '../series-old.ts'
import { whyTooMany } from './descriptors.ts'
import { withEnds } from './ends.ts'
import { measureCosts } from './measure-costs.ts'
import { measureIdle } from './measure-idle.ts'
import type { ScaleOptions, ScaleReport } from './report.ts'
import type { Measurements } from '../../test/lab/measure/measurements.ts'
import type { Contender } from '../../test/lab/peers/contender.ts'

export async function runScale ({ command, counts, maxStreamLevel, contenders, rounds, hold, seed }: ScaleOptions): Promise<ScaleReport> {
  const list = new SeriesList()
  const random = seededRandom(seed)
  const possible = counts.filter(count => whyTooMany(count) == null)
  const fields = possible.map(count => ({ count, rivals: contenders.filter(({ level }) => level === 'connection' || count <= maxStreamLevel) }))
  const notes = [
    ...counts.flatMap(count => {
      const why = whyTooMany(count)

      return why == null ? [] : [`${count} connections were skipped: ${why}.`]
    }),
    ...fields.filter(({ rivals }) => rivals.length < contenders.length).map(({ count }) => (
      `${count} connections were skipped at the stream level, where ${maxStreamLevel} are the most.`
    ))
  ]

  if (fields.every(({ rivals }) => rivals.length === 0)) {
    throw new Error(`There is nothing to measure. ${notes.join(' ')}`)
  }

  const shown = progress(fields.reduce((sum, { rivals }) => sum + rounds * rivals.length, 0))

  try {
    await withWorkers(async () => {
      for (const { count, rivals } of fields) {
        for (let round = 1; round <= rounds; round++) {
          for (const contender of shuffled(rivals, random)) {
            const { level, name } = contender
            const doing = `${count} connections: round ${round} of ${rounds}, ${name}, ${level} level`
            shown.step(doing)
            const measurements = await measureConnections(contender, count, hold, idle => {
              shown.note(`${doing}, idle for ${duration(idle)} of ${duration(hold)}`)
            })
            list.addAll({ row: `${count}`, level, rival: name }, measurements)
          }
        }
      }
    })
  } finally {
    shown.stop()
  }

  return {
    benchmark: 'scale',
    ...environment(command),
    rivals: describeRivals(contenders),
    seed,
    rounds,
    hold,
    counts: possible,
    notes: [...ownCoreNotes(), ...notes],
    samples: list.series
  }
}

/**
 * Dials connections and closes them, and dials as many that lie idle for `hold` ms,
 * in processes of their own. Every second `onIdle` is told for how many ms those have
 * been idle.
 */
export async function measureConnections (contender: Contender, count: number, hold: number, onIdle: (milliseconds: number) => void): Promise<Measurements> {
  return [
    ...await withEnds(contender, async (ends, addresses) => measureCosts(ends, addresses, contender.level, count)),
    ...await withEnds(contender, async (ends, addresses) => measureIdle(ends, addresses, count, hold, onIdle))
  ]
}
