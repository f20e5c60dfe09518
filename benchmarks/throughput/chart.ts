import { NAMES } from '../contenders/names.ts'
import { RIVALS } from '../report/palette.ts'
import { ratioChart } from '../report/ratio-chart.ts'
import { NET, rivalsAt, timeRatio } from './comparisons.ts'
import type { Of } from './comparisons.ts'
import type { ReportedRow, ThroughputReport } from './report.ts'
import type { RatioChart } from '../report/ratio-chart.ts'
import type { TopLevelSpec } from 'vega-lite'

type Bars = RatioChart['groups'][number]['bars']

const PUBLISHED = { name: 'tcp-conn (Go), published', colour: RIVALS['tcp-conn'] }

/**
 * What a connection or a stream adds to what it is compared with, a group of
 * bars for each row: connections to raw net, streams to the official transport.
 * What was not measured has no bar. The slowest rows of ours come first.
 */
export function throughputChart (report: ThroughputReport, level: string): TopLevelSpec {
  const base: Of = level === NET.level ? NET : { level, rival: 'official' }
  const rivals = rivalsAt(report, level).map(({ name }) => name).filter(name => name !== base.rival)
  const groups = report.rows.map(row => ({
    name: row.title.split(': ')[0],
    bars: [...measured(report, row, level, rivals, base), ...published(row, level)]
  })).filter(({ bars }) => bars.length > 0).toSorted((a, b) => ratioOf(b.bars) - ratioOf(a.bars))
  const drawn = new Set(groups.flatMap(({ bars }) => bars.map(({ series }) => series)))

  return ratioChart({
    title: level === NET.level ? 'A connection, against raw net' : 'A stream through Noise and yamux, against the official transport',
    subtitle: [
      'Medians of ratios by round, slowest first; the line below a bar goes from their 10th to their 90th percentile.',
      ...(drawn.has(PUBLISHED.name) ? ['tcp-conn\'s ratios are those of its report, to raw TCP in Go on its own machine.'] : [])
    ],
    axis: `time per operation, as a multiple of ${level === NET.level ? 'raw net\'s' : 'that of @libp2p/tcp'} (left is faster)`,
    more: 'slower',
    series: [...rivals.map(rival => ({ name: NAMES[rival], colour: RIVALS[rival] })), PUBLISHED].filter(({ name }) => drawn.has(name)),
    groups
  })
}

function measured (report: ThroughputReport, row: ReportedRow, level: string, rivals: string[], base: Of): Bars {
  return rivals.flatMap(rival => {
    const comparison = timeRatio(report, row.name, { level, rival }, base)

    return comparison == null ? [] : [{ series: NAMES[rival], ratio: { median: comparison.ratio, p10: comparison.p10, p90: comparison.p90 } }]
  })
}

function published ({ published: { overhead } }: ReportedRow, level: string): Bars {
  return overhead == null || level !== NET.level ? [] : [{ series: PUBLISHED.name, ratio: { median: overhead, p10: overhead, p90: overhead } }]
}

/**
 * Of ours, or of the first one where ours was not measured.
 */
function ratioOf (bars: Bars): number {
  return (bars.find(({ series }) => series === NAMES.ours) ?? bars[0]).ratio.median
}
