import { NAMES } from '../../test/lab/peers/names.ts'
import { legend } from '../report/legend.ts'
import { logDomain, logTicks } from '../report/log-axis.ts'
import { RIVALS } from '../report/palette.ts'
import { rivalsAt } from '../series-old.ts'
import { QUANTITIES, countsAt, summaryOf } from './quantities.ts'
import type { Quantity } from './quantities.ts'
import type { ScaleReport } from './report.ts'
import type { TopLevelSpec } from 'vega-lite'

interface Point {
  name: string
  count: number
  median: number
  p10: number
  p90: number
}

const COLUMNS = 2
const WIDTH = 300
const HEIGHT = 190

/** Over less than this factor a few per cent would look like much */
const LEAST_SPAN = 4

/**
 * How each cost of a connection changes with their number, a panel per cost: lines
 * over two logarithmic axes with a band from the 10th to the 90th percentile. A
 * median that is not positive has no place there and is left out, as is a panel
 * where nothing else is.
 */
export function scaleChart (report: ScaleReport, level: string): TopLevelSpec {
  const title = level === 'connection' ? 'Idle connections' : 'Idle connections with Noise and yamux'
  const rivals = rivalsAt(report, level)
  const counts = countsAt(report, level)
  const panels = QUANTITIES.map(quantity => ({
    quantity,
    points: rivals.flatMap(name => counts.flatMap((count): Point[] => {
      const summary = summaryOf(report, quantity, { row: `${count}`, level, rival: name })

      return summary == null || !(summary.median > 0) ? [] : [{ name, count, median: summary.median, p10: summary.p10, p90: summary.p90 }]
    }))
  })).filter(({ points }) => points.length > 0)
  const drawn = panels.flatMap(({ points }) => points.map(({ count }) => count))

  return {
    title: {
      text: title,
      subtitle: ['Medians of both ends together; the band goes from the 10th to the 90th percentile.', 'A median that is not above zero, as memory may be of few connections, is not drawn.']
    },
    description: title,
    spacing: 24,
    vconcat: [
      legend(rivals.map(name => ({ name: NAMES[name], colour: RIVALS[name] }))),
      { columns: COLUMNS, spacing: { row: 24, column: 32 }, concat: panels.map(({ quantity, points }) => panel(quantity, points, counts.filter(count => drawn.includes(count)))) }
    ]
  } as TopLevelSpec
}

function panel ({ title, unit }: Quantity, points: Point[], counts: number[]): object {
  const vertical = verticalDomain(points)

  return {
    // a title up the side of the axis is hard to read
    title: { text: title, subtitle: unit, fontSize: 12, subtitlePadding: 3, offset: 8, frame: 'group' },
    width: WIDTH,
    height: HEIGHT,
    // a band that goes to zero or below goes to the bottom
    data: { values: points.map(({ name, p10, ...point }) => ({ ...point, p10: Math.max(p10, vertical[0]), colour: RIVALS[name] })) },
    encoding: {
      x: {
        field: 'count',
        type: 'quantitative',
        title: 'connections',
        scale: { type: 'log', domain: [Math.min(...counts), Math.max(...counts)], nice: false },
        axis: { values: counts, format: ',', labelFlush: false, labelOverlap: true, grid: false }
      },
      color: { field: 'colour', type: 'nominal', scale: null }
    },
    layer: [
      {
        mark: { type: 'area', opacity: 0.22 },
        encoding: { y: { field: 'p10', type: 'quantitative' }, y2: { field: 'p90' } }
      },
      {
        mark: { type: 'line', strokeWidth: 2, point: { size: 45, filled: true } },
        encoding: {
          y: {
            field: 'median',
            type: 'quantitative',
            title: null,
            scale: { type: 'log', domain: vertical, nice: false },
            // SI would make half a millisecond 500m
            axis: { values: logTicks(vertical), labelExpr: 'format(datum.value, datum.value < 1 ? "~g" : "~s")', domain: false, ticks: false, labelPadding: 8 }
          }
        }
      }
    ]
  }
}

/** With room for the ends of the lines */
function verticalDomain (points: Point[]): [number, number] {
  const [least, most] = logDomain(points.flatMap(({ median, p10, p90 }) => [median, p10, p90]), 1.15)
  const widening = Math.sqrt(Math.max(1, LEAST_SPAN / (most / least)))

  return [least / widening, most * widening]
}
