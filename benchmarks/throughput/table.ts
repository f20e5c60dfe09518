import { contenders } from '../contenders/registry.ts'
import { findSeries } from '../series.ts'
import { median, summarise } from '../statistics.ts'
import { compare } from './comparison.ts'
import { short, textTable } from './text-table.ts'
import type { SuiteResult } from '../series.ts'
import type { Row } from './rows/row.ts'

const HEADER = ['', 'ops/s', 'us/op', '[p10-p90]', 'p50', 'p99', 'MB/s', 'CPU us/op', 'loop p99 ms', 'heap B/op', 'ext B/op', 'writes/op', 'segs/op', 'x net', 'x official']

/**
 * A table for each row and level. Ratios are of the time an operation takes.
 */
export function throughputTables (result: SuiteResult, rows: Row[]): string {
  const parts: string[] = []

  for (const row of rows) {
    const levels = new Set(result.samples.filter(series => series.row === row.name).map(series => series.level))

    for (const level of levels) {
      parts.push(`${row.title}, ${level} level`, table(result, row, level), ...footnotes(row, level), '')
    }
  }

  parts.push(
    '~ the rounds do not agree which of the two is faster: the difference is noise',
    'x net is the time over that of node:net at the connection level, x official over that of @libp2p/tcp at the same level,',
    'both by round and then the median. CPU and memory are of both ends together; MB/s counts one direction.'
  )

  return parts.join('\n')
}

function table (result: SuiteResult, row: Row, level: string): string {
  const measured = new Set(result.samples.filter(series => series.row === row.name && series.level === level).map(series => series.rival))
  const names = contenders.filter(contender => contender.level === level && measured.has(contender.name)).map(contender => contender.name)

  return textTable([HEADER, ...names.map(rival => {
    const samples = (metric: string): number[] => findSeries(result.samples, { row: row.name, level, rival, metric })?.samples ?? []
    const middle = (metric: string): string => short(median(samples(metric)))
    const time = summarise(samples('time'))
    const ratio = (otherLevel: string, other: string): string => {
      const others = findSeries(result.samples, { row: row.name, level: otherLevel, rival: other, metric: 'time' })
      const comparison = compare(samples('time'), others?.samples ?? [])
      const isSame = otherLevel === level && other === rival

      return comparison == null || isSame ? '-' : `${comparison.noisy ? '~' : ''}${comparison.ratio.toFixed(2)}`
    }

    return [
      rival,
      middle('rate'),
      short(time.median),
      `[${short(time.p10)}-${short(time.p90)}]`,
      middle('p50'),
      middle('p99'),
      middle('throughput'),
      middle('cpu'),
      middle('loop delay p99'),
      middle('heap allocated'),
      middle('external allocated'),
      middle('write calls'),
      middle('segments'),
      ratio('connection', 'net'),
      ratio(level, 'official')
    ]
  })])
}

function footnotes (row: Row, level: string): string[] {
  const notes: string[] = []

  if (row.batch != null) {
    notes.push(`  p50 and p99 are of a message's share in batches of ${row.batch.messages} that ${row.batch.title === 'arrived' ? 'arrived' : 'were accepted'}`)
  }

  if (!row.keepsConnection) {
    notes.push('  segments are those of the whole machine, with SYN, ACK and FIN')
  }

  if (row.published.overhead != null && level === 'connection') {
    notes.push(`  published for tcp-conn (Go) on its own machine: x net ${row.published.overhead.toFixed(2)}`)
  }

  return notes
}
