import { median } from '../test/lab/statistics.ts'
import type { Measurements } from '../test/lab/measure/measurements.ts'
import type { Contender } from '../test/lab/peers/contender.ts'
import type { Environment } from '../test/lab/report/environment.ts'

export interface Series {
  row: string
  level: string
  rival: string
  metric: string
  unit: string

  /** In the order of the rounds, so that those of two rivals make pairs. */
  samples: number[]
}

export type SeriesKey = Omit<Series, 'samples' | 'unit'>

/** What is known of a run whose samples are series, as its JSON file holds it */
export interface SeriesReport extends Environment {
  rivals: Array<Pick<Contender, 'level' | 'name' | 'title'> & { versions: Record<string, string> }>
  seed: number
  rounds: number

  /** What could not be measured here, and why. */
  notes: string[]
  samples: Series[]
}

export class SeriesList {
  readonly series: Series[] = []

  addAll (key: Omit<SeriesKey, 'metric'>, measurements: Measurements): void {
    measurements.forEach(({ metric, unit, value }) => { this.add({ ...key, metric }, unit, value) })
  }

  add (key: SeriesKey, unit: string, sample: number): void {
    let series = findSeries(this.series, key)

    if (series == null) {
      series = { ...key, unit, samples: [] }
      this.series.push(series)
    }

    series.samples.push(sample)
  }
}

/** None where it was not measured. */
export function samplesOf (list: readonly Series[], key: SeriesKey): number[] {
  return findSeries(list, key)?.samples ?? []
}

function findSeries (list: readonly Series[], { row, level, rival, metric }: SeriesKey): Series | undefined {
  return list.find(series => series.row === row && series.level === level && series.rival === rival && series.metric === metric)
}

/** NaN where it was not measured */
export function medianOf (list: readonly Series[], key: SeriesKey): number {
  return median(samplesOf(list, key))
}

export function describeRivals (contenders: Contender[]): SeriesReport['rivals'] {
  return contenders.map(({ level, name, title, versions }) => ({ level, name, title, versions: versions() }))
}

/** Who was measured at a level, in the order in which tables list them. */
export function rivalsAt (report: SeriesReport, level: string): string[] {
  return report.rivals.filter(rival => rival.level === level).map(({ name }) => name)
}

/** The levels at which something was measured, in the order in which tables list them. */
export function levelsOf (report: SeriesReport): string[] {
  return [...new Set(report.rivals.map(({ level }) => level))].filter(level => report.samples.some(series => series.level === level))
}
