import { legend } from './legend.ts'
import type { Spread } from './bar-chart.ts'
import type { TopLevelSpec } from 'vega-lite'

export interface GrowthPanel {
  title: string

  /**
   * What the vertical axis shows, with its unit.
   */
  axis: string
  series: Array<{ name: string, colour: string, points: Array<{ x: number, y: number | Spread }> }>
}

export interface GrowthChart {
  title: string
  subtitle?: string[]

  /**
   * What grows, with its unit.
   */
  axis: string
  panels: GrowthPanel[]

  /**
   * Panels side by side.
   *
   * @default 2
   */
  columns?: number
}

const WIDTH = 300
const HEIGHT = 190

/**
 * How cost grows: lines over two logarithmic axes, where a straight line is a
 * power and its slope the exponent, with a band from the 10th to the 90th
 * percentile. A median that is not positive has no place there and is left out, as
 * is a panel where nothing else is. A band that goes to zero or below goes to the
 * bottom of its panel.
 */
export function growthChart ({ title, subtitle, axis, panels: all, columns = 2 }: GrowthChart): TopLevelSpec {
  const panels = all.filter(panel => points(panel).length > 0)
  const colours = new Map(panels.flatMap(({ series }) => series.map(({ name, colour }) => [name, colour])))
  const grown = [...new Set(panels.flatMap(panel => points(panel).map(({ x }) => x)))]

  return {
    title: { text: title, subtitle },
    description: title,
    spacing: 24,
    vconcat: [
      legend([...colours].map(([name, colour]) => ({ name, colour }))),
      { columns, spacing: { row: 24, column: 32 }, concat: panels.map(panel => growthPanel(panel, axis, grown)) }
    ]
  } as TopLevelSpec
}

function growthPanel (panel: GrowthPanel, axis: string, grown: number[]): object {
  const all = points(panel)
  const vertical = domain(all.flatMap(({ median, p10, p90 }) => [median, p10, p90]).filter(value => value > 0))
  const values = all.map(point => ({ ...point, p10: Math.max(point.p10, vertical[0]) }))

  return {
    // a title up the side of the axis is hard to read
    title: { text: panel.title, subtitle: panel.axis, fontSize: 12, subtitlePadding: 3, offset: 8, frame: 'group' },
    width: WIDTH,
    height: HEIGHT,
    data: { values },
    encoding: {
      x: {
        field: 'x',
        type: 'quantitative',
        title: axis,
        scale: { type: 'log', domain: [Math.min(...grown), Math.max(...grown)], nice: false },
        axis: { values: grown, format: ',', labelFlush: false, labelOverlap: true, grid: false }
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
            axis: { values: ticks(vertical), labelExpr: 'format(datum.value, datum.value < 1 ? "~g" : "~s")', domain: false, ticks: false, labelPadding: 8 }
          }
        }
      }
    ]
  }
}

const MANTISSAS = [
  { above: 500, of: [1] },
  { above: 15, of: [1, 2, 5] },
  { above: 3.5, of: [1, 1.5, 2, 3, 5, 7] },
  { above: 0, of: [1, 1.2, 1.5, 1.8, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8] }
]

/**
 * Over less than this factor a few per cent would look like much
 */
const LEAST_SPAN = 4

/**
 * With room for the ends of the lines
 */
function domain (values: number[]): [number, number] {
  const [least, most] = [Math.min(...values) / 1.15, Math.max(...values) * 1.15]
  const widening = Math.sqrt(Math.max(1, LEAST_SPAN / (most / least)))

  return [least / widening, most * widening]
}

/**
 * Powers of ten, and multiples of those where they are few.
 */
function ticks ([least, most]: [number, number]): number[] {
  const mantissas = MANTISSAS.find(({ above }) => most / least > above)?.of ?? []
  const first = Math.floor(Math.log10(least))
  const last = Math.ceil(Math.log10(most))

  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
    .flatMap(power => mantissas.map(mantissa => mantissa * 10 ** power))
    .filter(tick => tick >= least && tick <= most)
}

interface Point extends Spread {
  colour: string
  x: number
}

function points ({ series }: GrowthPanel): Point[] {
  return series
    .flatMap(({ colour, points }) => points.map(({ x, y }) => {
      const { median, p10, p90 } = typeof y === 'number' ? { median: y, p10: y, p90: y } : y

      return { colour, x, median, p10, p90 }
    }))
    .filter(({ x, median }) => x > 0 && median > 0)
}
