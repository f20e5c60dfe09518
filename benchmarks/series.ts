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

/**
 * What a suite leaves behind for reports.
 */
export interface SuiteResult {
  name: string
  meta: Record<string, unknown>
  samples: Series[]
}

export type SeriesKey = Omit<Series, 'samples' | 'unit'>

/**
 * Collects samples as they come.
 */
export class SeriesList {
  readonly series: Series[] = []

  add (key: SeriesKey, unit: string, sample: number): void {
    let series = this.find(key)

    if (series == null) {
      series = { ...key, unit, samples: [] }
      this.series.push(series)
    }

    series.samples.push(sample)
  }

  find (key: SeriesKey): Series | undefined {
    return findSeries(this.series, key)
  }
}

export function findSeries (list: readonly Series[], { row, level, rival, metric }: SeriesKey): Series | undefined {
  return list.find(series => series.row === row && series.level === level && series.rival === rival && series.metric === metric)
}
