import { legend } from './legend.ts'
import { MUTED, SERIES, TEXT } from './palette.ts'
import type { Summary } from '../statistics.ts'
import type { TopLevelSpec } from 'vega-lite'

/**
 * The part of a summary that is drawn: a bar to the median, a line below its end
 * from the 10th to the 90th percentile.
 */
export type Spread = Pick<Summary, 'median' | 'p10' | 'p90'>

export interface BarRow {
  name: string
  value: Spread

  /**
   * Written behind the bar.
   */
  label: string

  /**
   * Of a bar that is not stacked.
   */
  colour?: string

  /**
   * The median of each phase, where the bar is stacked. The median of a sum is not
   * the sum of medians: the phases share the median of the whole in this proportion.
   */
  phases?: Record<string, number>
}

export interface BarChart {
  title: string
  subtitle?: string[]

  /**
   * What the length of a bar means, with its unit.
   */
  axis: string

  /**
   * In the order in which they happen; none for plain bars.
   */
  phases?: string[]

  /**
   * One below the other, each to its own scale.
   */
  panels: Array<{ title: string, rows: BarRow[] }>
}

const WIDTH = 420
const STEP = 32
const BAR = 15

/**
 * The line of the spread lies below its bar, as no colour is seen on all others
 */
const BAR_OFFSET = -3
const SPREAD_OFFSET = 10

/**
 * Horizontal bars of medians with their spread, a row per rival.
 */
export function barChart (chart: BarChart): TopLevelSpec {
  const { title, subtitle, phases = [], panels } = chart

  return {
    title: { text: title, subtitle },
    description: title,
    spacing: 24,
    vconcat: [
      ...(phases.length === 0 ? [] : [legend(phases.map((name, index) => ({ name, colour: SERIES[index] })))]),
      ...panels.map(panel => barPanel(chart, panel))
    ]
  } as TopLevelSpec
}

function barPanel (chart: BarChart, { title, rows }: BarChart['panels'][number]): object {
  return {
    title: title === '' ? undefined : { text: title, fontSize: 12, offset: 6, frame: 'group' },
    width: WIDTH,
    height: { step: STEP },
    encoding: {
      y: { field: 'name', type: 'nominal', sort: null, title: null, axis: { domain: false, ticks: false, labelPadding: 10, labelOffset: BAR_OFFSET } }
    },
    layer: [
      bars(chart, rows),
      {
        data: { values: rows.map(({ name, value: { p10, p90 } }) => ({ name, p10, p90 })) },
        mark: { type: 'rule', color: TEXT, strokeWidth: 2, yOffset: SPREAD_OFFSET },
        encoding: { x: { field: 'p10', type: 'quantitative' }, x2: { field: 'p90' } }
      },
      {
        data: { values: rows.flatMap(({ name, value: { p10, p90 } }) => [{ name, edge: p10 }, { name, edge: p90 }]) },
        mark: { type: 'tick', color: TEXT, thickness: 2, size: 6, yOffset: SPREAD_OFFSET },
        encoding: { x: { field: 'edge', type: 'quantitative' } }
      },
      {
        data: { values: rows.map(({ name, label, value }) => ({ name, label, end: Math.max(value.median, value.p90) })) },
        mark: { type: 'text', align: 'left', dx: 8, yOffset: BAR_OFFSET, color: TEXT },
        encoding: { x: { field: 'end', type: 'quantitative' }, text: { field: 'label' } }
      }
    ]
  }
}

function bars ({ axis, phases = [] }: BarChart, rows: BarRow[]): object {
  const x = { type: 'quantitative', title: axis, axis: { tickCount: 6, domain: false } }
  const mark = { type: 'bar', height: BAR, yOffset: BAR_OFFSET }
  const color = { field: 'colour', type: 'nominal', scale: null }

  if (phases.length === 0) {
    return {
      data: { values: rows.map(({ name, value, colour = MUTED }) => ({ name, median: value.median, colour })) },
      mark,
      encoding: { x: { ...x, field: 'median' }, color }
    }
  }

  return {
    data: {
      values: rows.flatMap(row => {
        const parts = phases.map(phase => row.phases?.[phase] ?? 0)
        const sum = parts.reduce((sum, part) => sum + part, 0)

        return phases.map((phase, order) => ({
          name: row.name, phase, order, median: sum === 0 ? 0 : parts[order] / sum * row.value.median, colour: SERIES[order]
        }))
      })
    },
    mark,
    encoding: { x: { ...x, field: 'median', stack: 'zero' }, color, order: { field: 'order' } }
  }
}
