import { ms, times, trips } from '../report/numbers.ts'
import { REFERENCE, handshakeOf } from './summary.ts'
import type { LinkRuns, RivalSummary } from './report.ts'
import type { Contender } from '../contenders/contender.ts'
import type { Table } from '../report/table.ts'

/**
 * What the runs come to, in milliseconds, a line per stack.
 */
export function summaryTable (summaries: RivalSummary[]): Table {
  return {
    columns: [
      { title: 'stack', align: 'left' },
      { title: '', align: 'left' },
      { title: 'TCP' },
      { title: 'handshake' },
      { title: 'stream' },
      { title: 'byte' },
      { title: 'total' },
      { title: 'average' },
      { title: 'p10-p90' },
      { title: 'round trips' },
      { title: `to ${REFERENCE}` },
      { title: 'close' },
      { title: 'runs' }
    ],
    rows: summaries.map(summary => [
      summary.rival,
      summary.title,
      ms(summary.connect.median),
      ms(summary.handshake.median),
      ms(summary.stream.median),
      ms(summary.firstByte.median),
      ms(summary.total.median),
      ms(summary.total.average),
      spread(summary),
      trips(summary.roundTrips),
      ratio(summary),
      ms(summary.close.median),
      String(summary.total.count)
    ])
  }
}

/**
 * What to know of the figures of a table.
 */
export function footnotes (summaries: RivalSummary[]): string[] {
  const untold = summaries.filter(({ total, connect }) => total.count > 0 && connect.count === 0).map(({ rival }) => rival)

  return [
    ...(summaries.some(({ noisy }) => noisy) ? ['~ The spreads of the two overlap: the difference may be noise.'] : []),
    ...(untold.length === 0 ? [] : [`A dash stands for what is not known: ${untold.join(' and ')} cannot tell the TCP connection from the handshake; together they take what stream and byte leave of the total.`])
  ]
}

/**
 * The dials that failed, which no figure has.
 */
export function failuresOf ({ runs }: LinkRuns): string[] {
  return runs
    .filter(({ failure }) => failure != null)
    .map(({ rival, run, failure }) => `${rival} failed in ${run > 0 ? `run ${run}` : 'a warm-up'}: ${failure}`)
}

/**
 * The columns that answer how long until the first byte.
 */
export function firstByteTable (summaries: RivalSummary[]): Table {
  return {
    columns: [
      { title: 'stack', align: 'left' },
      { title: 'round trips' },
      { title: 'ms' },
      { title: 'p10-p90' },
      { title: `to ${REFERENCE}` }
    ],
    rows: summaries.map(summary => [
      summary.title,
      trips(summary.roundTrips),
      ms(summary.total.median),
      spread(summary),
      ratio(summary)
    ])
  }
}

/**
 * Every run in the order of their numbers, a column per stack.
 */
export function runTable (link: LinkRuns, rivals: Array<Pick<Contender, 'name'>>): Table {
  const numbers = [...new Set(link.runs.map(({ run }) => run))].filter(run => run > 0)

  return {
    columns: [{ title: 'run' }, ...rivals.map(({ name }) => ({ title: name }))],
    rows: numbers.map(number => [
      String(number),
      ...rivals.map(({ name }) => {
        const sample = link.runs.find(({ rival, run }) => rival === name && run === number)?.sample

        return sample == null ? 'failed' : [sample.connect ?? NaN, handshakeOf(sample) ?? NaN, sample.total].map(ms).join(' / ')
      })
    ])
  }
}

function spread ({ total }: RivalSummary): string {
  return total.count === 0 ? '-' : `${ms(total.p10)}-${ms(total.p90)}`
}

function ratio ({ ratio, noisy }: RivalSummary): string {
  return `${noisy ? '~' : ''}${times(ratio)}`
}
