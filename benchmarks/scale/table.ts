import { LEVELS, contenders } from '../contenders/registry.ts'
import { findSeries } from '../series.ts'
import { median } from '../statistics.ts'
import { short, textTable } from '../throughput/text-table.ts'
import type { Level } from '../contenders/contender.ts'
import type { SuiteResult } from '../series.ts'

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
  { title: 'dropped', metrics: ['dropped'] }
]

/**
 * What grows if the cost of one connection depends on how many there are
 */
const GROWING = ['cpu', 'close time each', 'heap dialler', 'heap listener']

export function scaleTables (result: SuiteResult): string {
  const counts = [...new Set(result.samples.map(series => series.row))]

  return [
    ...LEVELS.flatMap(level => tablesOf(result, level, counts)),
    'Two numbers in a cell are of the dialler and of the listener. Memory is what one idle connection adds to',
    'an end after garbage collection; of few connections it is mostly noise.'
  ].join('\n')
}

function tablesOf (result: SuiteResult, level: Level, counts: string[]): string[] {
  const rivals = contenders
    .filter(contender => contender.level === level)
    .map(({ name }) => name)
    .filter(rival => result.samples.some(series => series.level === level && series.rival === rival))

  if (rivals.length === 0) {
    return []
  }

  const value = (row: string, rival: string, metric: string): number | undefined => {
    const series = findSeries(result.samples, { row, level, rival, metric })

    return series == null ? undefined : median(series.samples)
  }
  const measured = counts.filter(row => value(row, rivals[0], 'cpu') != null)

  const costs = textTable([
    ['connections', 'rival', ...COLUMNS.map(({ title }) => title)],
    ...measured.flatMap(row => rivals.map(rival => [
      row,
      rival,
      ...COLUMNS.map(({ metrics, divisor = 1 }) => metrics.map(metric => short((value(row, rival, metric) ?? NaN) / divisor)).join(' / '))
    ]))
  ])
  const growth = textTable([
    ['rival', ...GROWING.map(metric => `${metric} ${measured.join(' : ')}`)],
    ...rivals.map(rival => [rival, ...GROWING.map(metric => relative(measured.map(row => value(row, rival, metric))))])
  ])

  return [`Idle connections, ${level} level`, costs, '', `How the cost of one connection grows, ${level} level`, growth, '']
}

/**
 * Numbers as multiples of the one of the smallest count.
 */
function relative (values: Array<number | undefined>): string {
  return values.map(value => short((value ?? NaN) / (values[0] ?? NaN))).join(' : ')
}
