import { markdownTable, tableOf } from '../../test/lab/report/table.ts'
import { marked } from '../report/tables.ts'
import { ratioOf } from '../series.ts'
import type { Report } from '../series.ts'

/** What a rival takes over what the official transport takes, in one run */
export interface Ratio {
  benchmark: string

  /** The same in every run */
  name: string
  ratio: number

  /** The difference may be noise */
  noisy: boolean
}

export interface Difference extends Pick<Ratio, 'benchmark' | 'name'> {
  /** Undefined where the run did not measure it */
  before?: Ratio
  after?: Ratio

  /** In %, against the first. NaN where one run did not measure it */
  percent: number
}

const METRICS = ['CPU', 'time', 'total']
const BASE = 'official'

export function ratiosOf ({ benchmark, series }: Report): Ratio[] {
  return series.filter(({ rival, metric }) => rival !== BASE && METRICS.includes(metric)).flatMap(({ group, row, rival, metric }) => {
    const comparison = ratioOf(series, { group, row, rival, metric }, { rival: BASE })

    return comparison == null ? [] : [{ benchmark, name: [group, row, rival, metric].join(', '), ratio: comparison.ratio, noisy: comparison.noisy }]
  })
}

/** Every ratio of either run, in the order of the first */
export function differences (before: Ratio[], after: Ratio[]): Difference[] {
  const keyOf = ({ benchmark, name }: Ratio): string => `${benchmark} ${name}`
  const all = new Map([...before, ...after].map(ratio => [keyOf(ratio), ratio]))

  return [...all].map(([key, { benchmark, name }]) => {
    const [was, is] = [before, after].map(ratios => ratios.find(ratio => keyOf(ratio) === key))

    return { benchmark, name, before: was, after: is, percent: was == null || is == null ? NaN : (is.ratio / was.ratio - 1) * 100 }
  })
}

/** Those that differ by more than so many %. What only one run measured differs. */
export function disagreements (all: Difference[], within: number): Difference[] {
  return all.filter(({ percent }) => !(Math.abs(percent) <= within))
}

export function differenceTable (all: Difference[], within: number): string {
  return markdownTable(tableOf(all, [
    ['benchmark', ({ benchmark }) => benchmark, 'left'],
    ['ratio to official', ({ name }) => name, 'left'],
    ['first', ({ before }) => marked(before)],
    ['second', ({ after }) => marked(after)],
    ['difference', ({ percent }) => Number.isNaN(percent) ? 'only in one' : `${percent < 0 ? '' : '+'}${percent.toFixed(1)} %`],
    ['', difference => disagreements([difference], within).length === 0 ? '' : `> ${within} %`, 'left']
  ]))
}
