import { NAMES } from '../contenders/names.ts'
import { SOCKET_INACTIVITY_TIMEOUT } from '../contenders/stacks.ts'
import { short } from '../report/numbers.ts'
import { medianOf, rivalsAt, samplesOf } from '../series.ts'
import { QUANTITIES, countsAt, summaryOf } from './quantities.ts'
import type { ScaleReport } from './report.ts'
import type { Table } from '../report/table.ts'

const KiB = 1_024

/**
 * Metrics of both ends stand in one cell, the dialler's first.
 */
const COLUMNS: Array<{ title: string, metrics: string[], divisor?: number }> = [
  { title: 'dials/s', metrics: ['dial rate'] },
  { title: 'dial ms p50/p99', metrics: ['dial p50', 'dial p99'] },
  { title: 'CPU us/dial', metrics: ['cpu dialler', 'cpu listener'] },
  { title: 'heap KiB', metrics: ['heap dialler', 'heap listener'], divisor: KiB },
  { title: 'ext KiB', metrics: ['external dialler', 'external listener'], divisor: KiB },
  { title: 'RSS KiB', metrics: ['rss dialler', 'rss listener'], divisor: KiB },
  { title: 'loop ms p50', metrics: ['loop delay p50 dialler', 'loop delay p50 listener'] },
  { title: 'loop ms p99', metrics: ['loop delay p99 dialler', 'loop delay p99 listener'] },
  { title: 'close us each', metrics: ['close time each'] },
  { title: 'CPU us/close', metrics: ['close cpu dialler', 'close cpu listener'] },
  { title: 'dropped', metrics: ['dropped'] }
]

/**
 * What grows if the cost of one connection depends on how many there are
 */
const GROWING = ['cpu', 'close cpu', 'close time each', 'heap dialler', 'heap listener']

export const LEGEND = [
  'Two numbers in a cell are of the dialler and of the listener.',
  'Few connections are dialled and closed again and again until there were enough of them; the time of a close is that until both ends were told that it is closed, divided by their number.',
  `Connections may be inactive for ${SOCKET_INACTIVITY_TIMEOUT / 3_600_000} h (\`inboundSocketInactivityTimeout\` and \`outboundSocketInactivityTimeout\` of both transports): by default they would be aborted when idle for two minutes.`,
  'Memory is what one idle connection adds to an end after garbage collection; of few connections it is mostly noise.'
]

/**
 * How long connections lay idle, and how many of all rounds were gone by then.
 */
export function idleness (report: ScaleReport, level: string): string {
  const dropped = rivalsAt(report, level).map(rival => {
    const drops = countsAt(report, level).map(count => ({ count, samples: samplesOf(report.samples, { row: `${count}`, level, rival, metric: 'dropped' }) }))
    const gone = drops.reduce((sum, { samples }) => samples.reduce((sum, sample) => sum + sample, sum), 0)
    const all = drops.reduce((sum, { count, samples }) => sum + count * samples.length, 0)

    return `${NAMES[rival]} ${gone.toLocaleString('en')} of ${all.toLocaleString('en')}`
  })

  return `Connections lay idle for ${report.hold.toLocaleString('en')} ms. Dropped meanwhile, in all rounds: ${dropped.join(', ')}.`
}

/**
 * All costs at one level, a line for each number of connections and rival.
 */
export function costTable (report: ScaleReport, level: string): Table {
  return {
    columns: [{ title: 'connections' }, { title: 'rival', align: 'left' }, ...COLUMNS.map(({ title }) => ({ title }))],
    rows: lines(report, level).map(({ count, rival }) => [
      count.toLocaleString('en'),
      NAMES[rival],
      ...COLUMNS.map(({ metrics, divisor = 1 }) => metrics.map(metric => short(medianOf(report.samples, { row: `${count}`, level, rival, metric }) / divisor)).join(' / '))
    ])
  }
}

/**
 * The quantities that the chart draws, of both ends together.
 */
export function quantityTable (report: ScaleReport, level: string): Table {
  return {
    columns: [{ title: 'connections' }, { title: 'rival', align: 'left' }, ...QUANTITIES.map(({ title, unit }) => ({ title: `${title}, ${unit}` }))],
    rows: lines(report, level).map(({ count, rival }) => [
      count.toLocaleString('en'),
      NAMES[rival],
      ...QUANTITIES.map(quantity => short(summaryOf(report, quantity, { row: `${count}`, level, rival })?.median ?? NaN))
    ])
  }
}

/**
 * What a connection costs among many, as a multiple of what it costs among few.
 */
export function growthTable (report: ScaleReport, level: string): Table {
  const counts = countsAt(report, level)

  return {
    columns: [{ title: 'rival', align: 'left' }, ...GROWING.map(metric => ({ title: `${metric} ${counts.join(' : ')}` }))],
    rows: rivalsAt(report, level).map(rival => [
      NAMES[rival],
      ...GROWING.map(metric => {
        const values = counts.map(count => medianOf(report.samples, { row: `${count}`, level, rival, metric }))

        return values.map(value => short(value / values[0])).join(' : ')
      })
    ])
  }
}

function lines (report: ScaleReport, level: string): Array<{ count: number, rival: string }> {
  return countsAt(report, level).flatMap(count => rivalsAt(report, level).map(rival => ({ count, rival })))
}
