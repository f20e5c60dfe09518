import { NAMES } from '../../test/lab/peers/names.ts'
import { SOCKET_INACTIVITY_TIMEOUT } from '../../test/lab/peers/stacks.ts'
import { short } from '../../test/lab/report/numbers.ts'
import { tableOf } from '../../test/lab/report/table.ts'
import { medianOf, rivalsAt, samplesOf } from '../series-old.ts'
import { QUANTITIES, countsAt, summaryOf } from './quantities.ts'
import type { ScaleReport } from './report.ts'
import type { ColumnOf, Table } from '../../test/lab/report/table.ts'
import type { SeriesKey } from '../series-old.ts'

const KiB = 1_024

/** Metrics of both ends stand in one cell, the dialer's first. */
const METRICS: Array<[title: string, metrics: string[], divisor?: number]> = [
  ['dials/s', ['dial rate']],
  ['dial ms p50/p99', ['dial p50', 'dial p99']],
  ['CPU us/dial', ['cpu dialer', 'cpu listener']],
  ['heap KiB', ['heap dialer', 'heap listener'], KiB],
  ['ext KiB', ['external dialer', 'external listener'], KiB],
  ['RSS KiB', ['rss dialer', 'rss listener'], KiB],
  ['loop ms p50', ['loop delay p50 dialer', 'loop delay p50 listener']],
  ['loop ms p99', ['loop delay p99 dialer', 'loop delay p99 listener']],
  ['close us each', ['close time each']],
  ['CPU us/close', ['close cpu dialer', 'close cpu listener']],
  ['dropped', ['dropped']]
]

const HEAD: Array<ColumnOf<Line>> = [
  ['connections', ({ count }) => count.toLocaleString('en')],
  ['rival', ({ rival }) => NAMES[rival], 'left']
]

/** What grows if the cost of one connection depends on how many there are */
const GROWING = ['cpu', 'close cpu', 'close time each', 'heap dialer', 'heap listener']

export const LEGEND = [
  'Two numbers in a cell are of the dialer and of the listener.',
  'Few connections are dialed and closed again and again until there were enough of them; the time of a close is that until both ends were told that it is closed, divided by their number.',
  `Connections may be inactive for ${SOCKET_INACTIVITY_TIMEOUT / 3_600_000} h (\`inboundSocketInactivityTimeout\` and \`outboundSocketInactivityTimeout\` of both transports): by default they would be aborted when idle for two minutes.`,
  'Memory is what one idle connection adds to an end after garbage collection; of few connections it is mostly noise.'
]

/** How long connections lay idle, and how many of all rounds were gone by then. */
export function idleness (report: ScaleReport, level: string): string {
  const dropped = rivalsAt(report, level).map(rival => {
    const drops = countsAt(report, level).map(count => ({ count, samples: samplesOf(report.samples, { ...keyOf({ count, rival }, level), metric: 'dropped' }) }))
    const gone = drops.reduce((sum, { samples }) => samples.reduce((sum, sample) => sum + sample, sum), 0)
    const all = drops.reduce((sum, { count, samples }) => sum + count * samples.length, 0)

    return `${NAMES[rival]} ${gone.toLocaleString('en')} of ${all.toLocaleString('en')}`
  })

  return `Connections lay idle for ${report.hold.toLocaleString('en')} ms. Dropped meanwhile, in all rounds: ${dropped.join(', ')}.`
}

/** All costs at one level, a line for each number of connections and rival. */
export function costTable (report: ScaleReport, level: string): Table {
  return tableOf(lines(report, level), [
    ...HEAD,
    ...METRICS.map(([title, metrics, divisor = 1]): ColumnOf<Line> => [
      title,
      of => metrics.map(metric => short(medianOf(report.samples, { ...keyOf(of, level), metric }) / divisor)).join(' / ')
    ])
  ])
}

/** The quantities that the chart draws, of both ends together. */
export function quantityTable (report: ScaleReport, level: string): Table {
  return tableOf(lines(report, level), [
    ...HEAD,
    ...QUANTITIES.map((quantity): ColumnOf<Line> => [
      `${quantity.title}, ${quantity.unit}`,
      of => short(summaryOf(report, quantity, keyOf(of, level))?.median ?? NaN)
    ])
  ])
}

/** What a connection costs among many, as a multiple of what it costs among few. */
export function growthTable (report: ScaleReport, level: string): Table {
  const counts = countsAt(report, level)

  return tableOf(rivalsAt(report, level), [
    ['rival', rival => NAMES[rival], 'left'],
    ...GROWING.map((metric): ColumnOf<string> => [
      `${metric} ${counts.join(' : ')}`,
      rival => {
        const values = counts.map(count => medianOf(report.samples, { ...keyOf({ count, rival }, level), metric }))

        return values.map(value => short(value / values[0])).join(' : ')
      }
    ])
  ])
}

interface Line {
  count: number
  rival: string
}

function lines (report: ScaleReport, level: string): Line[] {
  return countsAt(report, level).flatMap(count => rivalsAt(report, level).map(rival => ({ count, rival })))
}

function keyOf ({ count, rival }: Line, level: string): Omit<SeriesKey, 'metric'> {
  return { row: `${count}`, level, rival }
}
