import { progress } from '../test/lab/process/progress.ts'
import { seededRandom, shuffled } from '../test/lab/process/random.ts'
import { SeriesList } from './series.ts'
import type { Measured, Series } from './series.ts'
import type { Measurements } from '../test/lab/measure/measurements.ts'

/** One rival in one row */
export interface Job extends Measured {
  /** Starts what it needs, measures it once, and ends it */
  measure(note: (message: string) => void): Promise<Measurements>
}

export interface Turns {
  rounds: number
  seed: number
}

/**
 * Measures every job once a round. The rivals of a row follow each other, since the
 * machine is faster at one moment than at the next; the order of rows and rivals is
 * another in each round. A job that fails is told in `failures`, and the others go on.
 */
export async function inTurn (jobs: Job[], { rounds, seed }: Turns): Promise<{ series: Series[], failures: string[] }> {
  const random = seededRandom(seed)
  const list = new SeriesList()
  const failures: string[] = []
  const shown = progress(rounds * jobs.length)
  const rows = Object.values(Object.groupBy(jobs, ({ group, row }) => `${group}, ${row}`)).map(rivals => rivals ?? [])

  try {
    for (let round = 1; round <= rounds; round++) {
      for (const { measure, ...measured } of shuffled(rows, random).flatMap(rivals => shuffled(rivals, random))) {
        const doing = `round ${round} of ${rounds}, ${Object.values(measured).join(', ')}`
        shown.step(doing)

        try {
          list.add(measured, round, await measure(message => { shown.note(`${doing}: ${message}`) }))
        } catch (err: any) {
          failures.push(`Failed in ${doing}: ${String(err.message).split('\n')[0]}`)
        }
      }
    }
  } finally {
    shown.stop()
  }

  // in the order of the rows and rivals, not of the first round
  const place = ({ group, row, rival }: Measured): number => jobs.findIndex(job => job.group === group && job.row === row && job.rival === rival)

  return { series: list.series.toSorted((a, b) => place(a) - place(b)), failures }
}
