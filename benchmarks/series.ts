import type { Contender } from './contenders/contender.ts'
import type { Environment } from './report/environment.ts'

/**
 * Every sample of one number.
 */
export interface Series {
  row: string
  level: string
  rival: string
  metric: string
  unit: string

  /**
   * In the order of the rounds, so that those of two rivals make pairs.
   */
  samples: number[]
}

export type SeriesKey = Omit<Series, 'samples' | 'unit'>

/**
 * What is known of a run whose samples are series, as its JSON file holds it
 */
export interface SeriesReport extends Environment {
  rivals: Array<Pick<Contender, 'level' | 'name' | 'title'> & { versions: Record<string, string> }>
  seed: number
  rounds: number

  /**
   * What could not be measured here, and why.
   */
  notes: string[]
  samples: Series[]
}

/**
 * Collects samples as they come.
 */
export class SeriesList {
  readonly series: Series[] = []

  add (key: SeriesKey, unit: string, sample: number): void {
    let series = findSeries(this.series, key)

    if (series == null) {
      series = { ...key, unit, samples: [] }
      this.series.push(series)
    }

    series.samples.push(sample)
  }
}

/**
 * None where it was not measured.
 */
export function samplesOf (list: readonly Series[], key: SeriesKey): number[] {
  return findSeries(list, key)?.samples ?? []
}

function findSeries (list: readonly Series[], { row, level, rival, metric }: SeriesKey): Series | undefined {
  return list.find(series => series.row === row && series.level === level && series.rival === rival && series.metric === metric)
}

export function describeRivals (contenders: Contender[]): SeriesReport['rivals'] {
  return contenders.map(({ level, name, title, versions }) => ({ level, name, title, versions: versions() }))
}
