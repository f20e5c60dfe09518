import { tableOf } from '../../test/lab/report/table.ts'
import { marked } from '../report/comparison.ts'
import type { Table } from '../../test/lab/report/table.ts'
import type { QuotedRatio } from '../readme/quoted.ts'

export interface Difference extends Pick<QuotedRatio, 'suite' | 'name'> {
  /** Undefined where the run did not measure it. */
  before?: QuotedRatio
  after?: QuotedRatio

  /** In %, against the first. NaN where one run did not measure it. */
  percent: number
}

/** Every ratio of either run, in the order of the first. */
export function differences (before: QuotedRatio[], after: QuotedRatio[]): Difference[] {
  const keyOf = ({ suite, name }: QuotedRatio): string => `${suite} ${name}`
  const all = new Map([...before, ...after].map(ratio => [keyOf(ratio), ratio]))

  return [...all].map(([key, { suite, name }]) => {
    const [was, is] = [before, after].map(ratios => ratios.find(ratio => keyOf(ratio) === key))

    return { suite, name, before: was, after: is, percent: was == null || is == null ? NaN : (is.ratio / was.ratio - 1) * 100 }
  })
}

/** Those that differ by more than so many %. What only one run measured differs. */
export function disagreements (all: Difference[], within: number): Difference[] {
  return all.filter(({ percent }) => !(Math.abs(percent) <= within))
}

export function differenceTable (all: Difference[], within: number): Table {
  return tableOf(all, [
    ['suite', ({ suite }) => suite, 'left'],
    ['ratio', ({ name }) => name, 'left'],
    ['first', ({ before }) => marked(before)],
    ['second', ({ after }) => marked(after)],
    ['difference', ({ percent }) => Number.isNaN(percent) ? '-' : `${percent < 0 ? '' : '+'}${percent.toFixed(1)} %`],
    ['', difference => verdict(difference, within), 'left']
  ])
}

function verdict (difference: Difference, within: number): string {
  if (Number.isNaN(difference.percent)) {
    return 'only in one'
  }

  return disagreements([difference], within).length === 0 ? '' : `> ${within} %`
}
