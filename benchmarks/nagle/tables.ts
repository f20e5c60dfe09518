import { NAMES } from '../contenders/names.ts'
import { ms, trips } from '../report/numbers.ts'
import { findings, sizesText } from './findings.ts'
import type { NagleCase } from './cases.ts'
import type { NagleLink, NagleReport } from './report.ts'
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
      { title: 'round trips' },
      { title: 'round trips after the first' },
      { title: 'runs so cut' },
      { title: 'retransmissions' }
    ],
    rows: findings(link, cases).map(({ case: { stack, noDelay, pace }, sizes, first, last, agreeing, runs, retransmissions }) => [
      NAMES[stack],
      String(noDelay),
      pace === 'tick' ? 'in one tick' : `${spacing} ms apart`,
      String(sizes.length),
      sizesText(sizes),
      ms(first.median),
      ms(last.median),
      `${ms(last.p10)}-${ms(last.p90)}`,
      trips(last.median / link.roundTrip),
      trips((last.median - first.median) / link.roundTrip),
      `${agreeing} of ${runs}`,
      String(retransmissions)
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
  return `${NAMES[stack]}, ${pace === 'tick' ? 'one tick' : `noDelay ${noDelay}`}`
}
