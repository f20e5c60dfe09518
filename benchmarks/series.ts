import { median, percentile } from '../test/lab/statistics.ts'
import type { Measurements } from '../test/lab/measure/measurements.ts'
import type { Environment } from '../test/lab/report/environment.ts'

/** What was measured of one rival, one sample a round */
export interface Series {
  /** What tables keep apart, such as a link or a level */
  group: string
  row: string
  rival: string
  metric: string
  unit: string

  /** By round, so that those of two rivals make pairs; null where a round failed */
  samples: Array<number | null>
}

export type Measured = Pick<Series, 'group' | 'row' | 'rival'>
export type SeriesKey = Measured & Pick<Series, 'metric'>

export interface Rival {
  name: string
  title: string
  versions: Record<string, string>
}

/** What every benchmark writes into its JSON file */
export interface Report extends Environment {
  benchmark: string

  /** Of the order of rows and rivals */
  seed?: number
  rivals: Rival[]

  /** What could not be measured, and why */
  notes: string[]
  series: Series[]
}

export class SeriesList {
  readonly series: Series[] = []

  /** Rounds count from 1 */
  add (measured: Measured, round: number, measurements: Measurements): void {
    for (const { metric, unit, value } of measurements) {
      let series = find(this.series, { ...measured, metric })

      if (series == null) {
        series = { ...measured, metric, unit, samples: [] }
        this.series.push(series)
      }

      while (series.samples.length < round - 1) {
        series.samples.push(null)
      }

      series.samples[round - 1] = Number.isFinite(value) ? value : null
    }
  }
}

function find (list: readonly Series[], { group, row, rival, metric }: SeriesKey): Series | undefined {
  return list.find(series => series.group === group && series.row === row && series.rival === rival && series.metric === metric)
}

/** None where it was not measured. */
export function samplesOf (list: readonly Series[], key: SeriesKey): number[] {
  return find(list, key)?.samples.filter(sample => sample != null) ?? []
}

/** NaN where it was not measured */
export function medianOf (list: readonly Series[], key: SeriesKey): number {
  return median(samplesOf(list, key))
}

/** Each name once, in the order of the report */
export function namesOf (list: readonly Series[], what: 'group' | 'row' | 'rival', of: Partial<SeriesKey> = {}): string[] {
  const chosen = list.filter(series => (Object.entries(of) as Array<[keyof SeriesKey, string]>).every(([key, value]) => series[key] === value))

  return [...new Set(chosen.map(series => series[what]))]
}

/** How many times as much as the other */
export interface Comparison {
  ratio: number
  p10: number
  p90: number

  /** The rounds do not agree which of the two is more */
  noisy: boolean
}

/**
 * One rival over another, round by round and then the median: what slowed the machine
 * down for a while slowed both. Undefined where they share no round.
 */
export function ratioOf (list: readonly Series[], key: SeriesKey, base: Partial<SeriesKey>): Comparison | undefined {
  const others = find(list, { ...key, ...base })?.samples ?? []

  return compare(find(list, key)?.samples ?? [], others)
}

export function compare (samples: Series['samples'], others: Series['samples']): Comparison | undefined {
  const ratios = samples.slice(0, others.length)
    .map((sample, round) => (sample ?? NaN) / (others[round] ?? NaN))
    .filter(Number.isFinite)

  if (ratios.length === 0) {
    return
  }

  const [p10, p90] = [percentile(ratios, 10), percentile(ratios, 90)]

  return { ratio: median(ratios), p10, p90, noisy: p10 <= 1 && p90 >= 1 }
}
