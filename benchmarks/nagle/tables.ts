import { NAMES } from '../../test/lab/peers/names.ts'
import { ms, trips } from '../../test/lab/report/numbers.ts'
import { tableOf } from '../../test/lab/report/table.ts'
import { findings, sizesText } from './findings.ts'
import type { NagleLink, NagleReport } from './report.ts'
import type { ColumnOf, Table } from '../../test/lab/report/table.ts'

/** What each case put on the wire and when it arrived, a row per case. */
export function summaryTable (link: NagleLink, { cases, spacing }: Pick<NagleReport, 'cases' | 'spacing'>): Table {
  return tableOf(findings(link, cases), [
    ['stack', ({ case: { stack } }) => NAMES[stack], 'left'],
    ['noDelay', ({ case: { noDelay } }) => `${noDelay}`, 'left'],
    ['writes', ({ case: { pace } }) => pace === 'tick' ? 'in one tick' : `${spacing} ms apart`, 'left'],
    ['segments', ({ sizes }) => `${sizes.length}`],
    ['bytes in each', ({ sizes }) => sizesText(sizes), 'left'],
    ['first byte, ms', ({ first }) => ms(first.median)],
    ['last byte, ms', ({ last }) => ms(last.median)],
    ['p10-p90', ({ last }) => `${ms(last.p10)}-${ms(last.p90)}`],
    ['round trips', ({ last }) => trips(last.median / link.roundTrip)],
    ['round trips after the first', ({ first, last }) => trips((last.median - first.median) / link.roundTrip)],
    ['runs so cut', ({ agreeing, runs }) => `${agreeing} of ${runs}`],
    ['retransmissions', ({ retransmissions }) => `${retransmissions}`]
  ])
}

/** When each message arrived, a row per message, a column per case. */
export function arrivalTable (link: NagleLink, { cases }: Pick<NagleReport, 'cases'>): Table {
  const all = findings(link, cases)

  return tableOf([...all[0].arrivals.keys()], [
    ['message', index => `${index + 1}`],
    ...all.map(({ case: { stack, noDelay, pace }, arrivals }): ColumnOf<number> => [
      `${NAMES[stack]}, ${pace === 'tick' ? 'one tick' : `noDelay ${noDelay}`}`,
      index => ms(arrivals[index].median)
    ])
  ])
}
