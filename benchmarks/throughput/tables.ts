import { NAMES } from '../contenders/names.ts'
import { marked } from '../report/comparison.ts'
import { short } from '../report/numbers.ts'
import { medianOf, rivalsAt, samplesOf } from '../series.ts'
import { summarise } from '../statistics.ts'
import { NET, comparedAt, timeRatio } from './comparisons.ts'
import type { Of } from './comparisons.ts'
import type { ReportedRow, ThroughputReport } from './report.ts'
import type { Comparison } from '../report/comparison.ts'
import type { Table } from '../report/table.ts'

/**
 * Ratios of a level, a line per row: connections to raw net and the official
 * transport, streams to the official transport.
 */
export function ratioTable (report: ThroughputReport, level: string): Table {
  const base: Of = level === NET.level ? NET : { level, rival: 'official' }
  const compared = comparedAt(report, level)
  const published = level === NET.level

  return {
    columns: [
      { title: 'row', align: 'left' },
      { title: `${NAMES[base.rival]}, us/op` },
      ...compared.map(({ of, to }) => ({ title: ratioTitle(of, to) })),
      ...(published ? [{ title: 'tcp-conn (Go) / its raw TCP' }] : [])
    ],
    rows: report.rows.map(row => [
      row.title,
      short(medianOf(report.samples, { row: row.name, ...base, metric: 'time' })),
      ...compared.map(({ of, to }) => withSpread(timeRatio(report, row.name, of, to))),
      ...(published ? [row.published.overhead?.toFixed(2) ?? '-'] : [])
    ])
  }
}

export function ratioTitle (of: Of, to: Of): string {
  return `${NAMES[of.rival]} / ${NAMES[to.rival]}`
}

const COLUMNS: Array<{ title: string, metric: string }> = [
  { title: 'p50', metric: 'p50' },
  { title: 'p99', metric: 'p99' },
  { title: 'CPU us/op', metric: 'cpu' },
  { title: 'loop p99 ms', metric: 'loop delay p99' },
  { title: 'heap B/op', metric: 'heap allocated' },
  { title: 'ext B/op', metric: 'external allocated' },
  { title: 'writes/op', metric: 'write calls' },
  { title: 'segs/op', metric: 'segments' }
]

/**
 * All that was measured of a row at one level, a line per rival.
 */
export function detailTable (report: ThroughputReport, row: ReportedRow, level: string): Table {
  return {
    columns: [
      { title: '', align: 'left' },
      { title: 'ops/s' },
      { title: 'us/op' },
      { title: 'p10-p90' },
      { title: 'MB/s' },
      ...COLUMNS.map(({ title }) => ({ title })),
      { title: 'x net' },
      { title: 'x official' }
    ],
    rows: rivalsAt(report, level).map(rival => {
      const of = { row: row.name, level, rival }
      const time = summarise(samplesOf(report.samples, { ...of, metric: 'time' }))
      const ratio = (to: Of): string => to.level === level && to.rival === rival ? '-' : marked(timeRatio(report, row.name, { level, rival }, to))

      return [
        NAMES[rival],
        short(1_000_000 / time.median),
        short(time.median),
        `${short(time.p10)}-${short(time.p90)}`,
        short(row.bytes / time.median),
        ...COLUMNS.map(({ metric }) => short(medianOf(report.samples, { ...of, metric }))),
        ratio(NET),
        ratio({ level, rival: 'official' })
      ]
    })
  }
}

/**
 * What to know of the figures of a row.
 */
export function footnotes ({ batch, keepsConnection, published }: ReportedRow, level: string): string[] {
  return [
    ...(batch == null ? [] : [`p50 and p99 are of a message's share in batches of ${batch.messages} that ${batch.title === 'arrived' ? 'arrived' : 'were accepted'}.`]),
    ...(keepsConnection ? [] : ['Segments are those of the whole machine, with SYN, ACK and FIN.']),
    ...(published.overhead == null || level !== NET.level ? [] : [`Published for tcp-conn (Go) on its own machine: ${published.overhead.toFixed(2)} times its raw TCP.`])
  ]
}

export const LEGEND = [
  'Ratios are of the time that an operation takes, round by round and then the median: below 1 is faster. "x net" is to raw net at the connection level, "x official" to @libp2p/tcp at the same level.',
  '~ The rounds do not agree which of the two is faster: the difference may be noise.',
  'p50, p99 and "loop p99" are those of a whole round, and then the median of the rounds.',
  'CPU and memory are of both ends together; MB/s counts one direction. Every process holds the code of a whole node, raw net\'s too: what is collected as garbage takes the longer the more there is.'
]

function withSpread (comparison: Comparison | undefined): string {
  return comparison == null ? '-' : `${marked(comparison)} (${comparison.p10.toFixed(2)}-${comparison.p90.toFixed(2)})`
}
