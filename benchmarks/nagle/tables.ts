import { ms, trips } from '../report/numbers.ts'
import { STACK_TITLES } from './cases.ts'
import { findings } from './findings.ts'
import { sizesText } from './wording.ts'
import type { NagleCase } from './cases.ts'
import type { NagleReport } from './report.ts'
import type { NagleLink } from './run.ts'
import type { Table } from '../report/table.ts'

/**
 * What each case put on the wire and when it arrived, a row per case.
 */
export function summaryTable (link: NagleLink, { cases, spacing }: Pick<NagleReport, 'cases' | 'spacing'>): Table {
  return {
    columns: [
      { title: 'stack', align: 'left' },
      { title: 'noDelay', align: 'left' },
      { title: 'writes', align: 'left' },
      { title: 'segments' },
      { title: 'bytes in each', align: 'left' },
      { title: 'first byte, ms' },
      { title: 'last byte, ms' },
      { title: 'p10-p90' },
      { title: 'round trips' }
    ],
    rows: findings(link, cases).map(({ case: { stack, noDelay, pace }, sizes, first, last }) => [
      STACK_TITLES[stack],
      String(noDelay),
      pace === 'tick' ? 'in one tick' : `${spacing} ms apart`,
      String(sizes.length),
      sizesText(sizes),
      ms(first.median),
      ms(last.median),
      `${ms(last.p10)}-${ms(last.p90)}`,
      trips(last.median / link.roundTrip)
    ])
  }
}

/**
 * When each message arrived, a row per message, a column per case.
 */
export function arrivalTable (link: NagleLink, { cases }: Pick<NagleReport, 'cases'>): Table {
  const all = findings(link, cases)

  return {
    columns: [{ title: 'message' }, ...cases.map(of => ({ title: shortTitle(of) }))],
    rows: all[0].arrivals.map((_, index) => [String(index + 1), ...all.map(({ arrivals }) => ms(arrivals[index].median))])
  }
}

function shortTitle ({ stack, noDelay, pace }: NagleCase): string {
  return `${STACK_TITLES[stack]}, ${pace === 'tick' ? 'one tick' : `noDelay ${noDelay}`}`
}
