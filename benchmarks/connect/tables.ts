import { ms, times, trips } from '../../test/lab/report/numbers.ts'
import { tableOf } from '../../test/lab/report/table.ts'
import { REFERENCE, handshakeOf } from './summary.ts'
import type { LinkRuns, RivalSummary } from './report.ts'
import type { Contender } from '../../test/lab/peers/contender.ts'
import type { ColumnOf, Table } from '../../test/lab/report/table.ts'

/** What the runs come to, in milliseconds, a line per stack. */
export function summaryTable (summaries: RivalSummary[]): Table {
  return tableOf(summaries, [
    ['stack', ({ rival }) => rival, 'left'],
    ['', ({ title }) => title, 'left'],
    ['TCP', ({ connect }) => ms(connect.median)],
    ['handshake', ({ handshake }) => ms(handshake.median)],
    ['stream', ({ stream }) => ms(stream.median)],
    ['byte', ({ firstByte }) => ms(firstByte.median)],
    ['total', ({ total }) => ms(total.median)],
    ['average', ({ total }) => ms(total.average)],
    ['p10-p90', spread],
    ['round trips', ({ roundTrips }) => trips(roundTrips)],
    [`to ${REFERENCE}`, ratio],
    ['close', ({ close }) => ms(close.median)],
    ['runs', ({ total }) => `${total.count}`]
  ])
}

export function footnotes (summaries: RivalSummary[]): string[] {
  const untold = summaries.filter(({ total, connect }) => total.count > 0 && connect.count === 0).map(({ rival }) => rival)

  return [
    ...(summaries.some(({ noisy }) => noisy) ? ['~ The spreads of the two overlap: the difference may be noise.'] : []),
    ...(untold.length === 0 ? [] : [`A dash stands for what is not known: ${untold.join(' and ')} cannot tell the TCP connection from the handshake; together they take what stream and byte leave of the total.`])
  ]
}

export function failuresOf ({ runs }: LinkRuns): string[] {
  return runs
    .filter(({ failure }) => failure != null)
    .map(({ rival, run, failure }) => `${rival} failed in ${run > 0 ? `run ${run}` : 'a warm-up'}: ${failure}`)
}

/** Every run in the order of their numbers, a column per stack. */
export function runTable (link: LinkRuns, rivals: Array<Pick<Contender, 'name'>>): Table {
  const numbers = [...new Set(link.runs.map(({ run }) => run))].filter(run => run > 0)

  return tableOf(numbers, [
    ['run', String],
    ...rivals.map(({ name }): ColumnOf<number> => [name, number => {
      const sample = link.runs.find(({ rival, run }) => rival === name && run === number)?.sample

      return sample == null ? 'failed' : [sample.connect ?? NaN, handshakeOf(sample) ?? NaN, sample.total].map(ms).join(' / ')
    }])
  ])
}

function spread ({ total }: RivalSummary): string {
  return total.count === 0 ? '-' : `${ms(total.p10)}-${ms(total.p90)}`
}

function ratio ({ ratio, noisy }: RivalSummary): string {
  return `${noisy ? '~' : ''}${times(ratio)}`
}
