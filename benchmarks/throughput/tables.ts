import { NAMES } from '../../test/lab/peers/names.ts'
import { short } from '../../test/lab/report/numbers.ts'
import { tableOf } from '../../test/lab/report/table.ts'
import { summarise } from '../../test/lab/statistics.ts'
import { marked } from '../report/comparison.ts'
import { medianOf, rivalsAt, samplesOf } from '../series.ts'
import { NET, comparedAt, timeRatio } from './comparisons.ts'
import type { Of } from './comparisons.ts'
import type { ReportedRow, ThroughputReport } from './report.ts'
import type { ColumnOf, Table } from '../../test/lab/report/table.ts'
import type { Comparison } from '../report/comparison.ts'

/**
 * Ratios of a level, a line per row: connections to raw net and the official
 * transport, streams to the official transport.
 */
export function ratioTable (report: ThroughputReport, level: string): Table {
  const base: Of = level === NET.level ? NET : { level, rival: 'official' }

  return tableOf(report.rows, [
    ['row', ({ title }) => title, 'left'],
    [`${NAMES[base.rival]}, us/op`, ({ name }) => short(medianOf(report.samples, { row: name, ...base, metric: 'time' }))],
    ...comparedAt(report, level).map(({ of, to }): ColumnOf<ReportedRow> => [ratioTitle(of, to), ({ name }) => withSpread(timeRatio(report, name, of, to))]),
    ...(level === NET.level ? [PUBLISHED] : [])
  ])
}

const PUBLISHED: ColumnOf<ReportedRow> = ['tcp-conn (Go) / its raw TCP', ({ published }) => published.overhead?.toFixed(2) ?? '-']

export function ratioTitle (of: Of, to: Of): string {
  return `${NAMES[of.rival]} / ${NAMES[to.rival]}`
}

const METRICS: Array<[title: string, metric: string]> = [
  ['p50', 'p50'],
  ['p99', 'p99'],
  ['CPU us/op', 'cpu'],
  ['loop p99 ms', 'loop delay p99'],
  ['heap B/op', 'heap allocated'],
  ['ext B/op', 'external allocated'],
  ['writes/op', 'write calls'],
  ['segs/op', 'segments']
]

/** All that was measured of a row at one level, a line per rival. */
export function detailTable (report: ThroughputReport, { name, bytes }: ReportedRow, level: string): Table {
  const lines = rivalsAt(report, level).map(rival => ({ rival, time: summarise(samplesOf(report.samples, { row: name, level, rival, metric: 'time' })) }))
  const ratio = (rival: string, to: Of): string => to.level === level && to.rival === rival ? '-' : marked(timeRatio(report, name, { level, rival }, to))

  return tableOf(lines, [
    ['', ({ rival }) => NAMES[rival], 'left'],
    ['ops/s', ({ time }) => short(1_000_000 / time.median)],
    ['us/op', ({ time }) => short(time.median)],
    ['p10-p90', ({ time }) => `${short(time.p10)}-${short(time.p90)}`],
    ['MB/s', ({ time }) => short(bytes / time.median)],
    ...METRICS.map(([title, metric]): ColumnOf<typeof lines[number]> => [title, ({ rival }) => short(medianOf(report.samples, { row: name, level, rival, metric }))]),
    ['x net', ({ rival }) => ratio(rival, NET)],
    ['x official', ({ rival }) => ratio(rival, { level, rival: 'official' })]
  ])
}

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
