import { NAMES } from '../../test/lab/peers/names.ts'
import { short } from '../../test/lab/report/numbers.ts'
import { markdownTable, tableOf } from '../../test/lab/report/table.ts'
import { summarise } from '../../test/lab/statistics.ts'
import { namesOf, ratioOf, samplesOf } from '../series.ts'
import type { ColumnOf } from '../../test/lab/report/table.ts'
import type { Comparison, Series, SeriesKey } from '../series.ts'

export interface MetricColumn {
  title: string
  metric: string

  /** @default 1 */
  divisor?: number

  /** With the 10th and the 90th percentile */
  spread?: boolean
}

/** A line per row and rival: the median of each metric. Rows are titled by `titles`, where they have one. */
export function medianTable (series: Series[], group: string, columns: MetricColumn[], titles: Record<string, string> = {}): string {
  const lines = namesOf(series, 'row', { group }).flatMap(row => namesOf(series, 'rival', { group, row }).map(rival => ({ group, row, rival })))

  return markdownTable(tableOf(lines, [
    ['row', ({ row }) => titles[row] ?? row, 'left'],
    ['rival', ({ rival }) => NAMES[rival] ?? rival, 'left'],
    ...columns
      .filter(({ metric }) => series.some(one => one.group === group && one.metric === metric))
      .map(({ title, metric, divisor = 1, spread = false }): ColumnOf<typeof lines[number]> => [title, of => {
        const samples = samplesOf(series, { ...of, metric }).map(sample => sample / divisor)
        const { median, p10, p90 } = summarise(samples)

        return `${short(median)}${spread && samples.length > 1 ? ` (${short(p10)}-${short(p90)})` : ''}`
      }])
  ]))
}

/**
 * A line per row, a column per rival but the one that they are compared with: the ratio
 * of each metric to that rival, as `0.68 / 0.87`, and the spread of each.
 */
export function ratioTable (series: Series[], group: string, metrics: string[], base: string, titles: Record<string, string> = {}): string {
  const rows = namesOf(series, 'row', { group }).filter(row => series.some(one => one.group === group && one.row === row && metrics.includes(one.metric)))
  const rivals = namesOf(series, 'rival', { group }).filter(rival => rival !== base)
  const isRepeated = series.some(({ samples }) => samples.length > 1)
  const ratios = (row: string, rival: string): Array<Comparison | undefined> => metrics.map(metric => ratioOf(series, { group, row, rival, metric }, { rival: base }))

  return markdownTable(tableOf(rows, [
    ['row', row => titles[row] ?? row, 'left'],
    ...rivals.flatMap((rival): Array<ColumnOf<string>> => [
      [`${NAMES[rival] ?? rival}, ${metrics.join(' / ')}`, row => ratios(row, rival).map(marked).join(' / ')],
      ...isRepeated ? [['p10-p90', row => ratios(row, rival).map(spread).join(' / ')] satisfies ColumnOf<string>] : []
    ])
  ]))
}

/** Two digits behind the point, `~` before what may be noise, and `-` for nothing */
export function marked (comparison?: Pick<Comparison, 'ratio' | 'noisy'>): string {
  return comparison == null ? '-' : `${comparison.noisy ? '~' : ''}${comparison.ratio.toFixed(2)}`
}

export function spread (comparison?: Comparison): string {
  return comparison == null ? '-' : `${comparison.p10.toFixed(2)}-${comparison.p90.toFixed(2)}`
}

/** One rival's metric beside another's, for a line of README */
export function pairOf (series: Series[], of: Omit<SeriesKey, 'rival'>, rivals: [string, string]): { medians: number[], comparison?: Comparison } {
  const [base, rival] = rivals

  return {
    medians: rivals.map(rival => summarise(samplesOf(series, { ...of, rival })).median),
    comparison: ratioOf(series, { ...of, rival }, { rival: base })
  }
}
