import { legend } from './legend.ts'
import { TEXT } from './palette.ts'
import type { Spread } from './bar-chart.ts'
import type { TopLevelSpec } from 'vega-lite'

export interface RatioChart {
  title: string
  subtitle?: string[]

  /**
   * What a ratio is of, and which direction is better.
   */
  axis: string

  /**
   * What a ratio above 1 is called.
   */
  more: string

  /**
   * In the order in which bars and legend list them.
   */
  series: Array<{ name: string, colour: string }>

  groups: Array<{
    name: string

    /**
     * A bar per series; one that was not measured is left out.
     */
    bars: Array<{ series: string, ratio: Spread }>
  }>
}

const WIDTH = 440

/**
 * A bar has a lane, and below it there is one for its spread
 */
const LANE = 10
const BAR = 13

/**
 * Groups of bars that start at 1. Twice as much and half as much are equally far
 * from there: ratios belong on a logarithmic axis. A label says so where a bar is
 * above 1 and its spread is too, since it may be short beside a large gain.
 */
export function ratioChart (chart: RatioChart): TopLevelSpec {
  const { title, subtitle, series, groups } = chart
  const panels = alike(groups)

  return {
    title: { text: title, subtitle },
    description: title,
    spacing: 10,
    vconcat: [
      legend(series),
      ...panels.map((panel, index) => ratioPanel(chart, panel, index === panels.length - 1))
    ]
  } as TopLevelSpec
}

type Group = RatioChart['groups'][number]

/**
 * Groups that follow each other and have bars of the same series make a panel: in
 * one panel each has as much room as the largest.
 */
function alike (groups: Group[]): Group[][] {
  const seriesOf = ({ bars }: Group): string => bars.map(({ series }) => series).join()
  const panels: Group[][] = []

  groups.forEach(group => {
    const last = panels.at(-1)

    if (last != null && seriesOf(last[0]) === seriesOf(group)) {
      last.push(group)
    } else {
      panels.push([group])
    }
  })

  return panels
}

function ratioPanel ({ axis, more, series, groups }: RatioChart, panel: Group[], isLast: boolean): object {
  const all = groups.flatMap(({ bars }) => bars.map(({ ratio }) => ratio))
  const colours = new Map(series.map(({ name, colour }) => [name, colour]))
  const values = panel.flatMap(({ name, bars }) => bars.map(({ series: of, ratio: { median, p10, p90 } }) => ({
    name, colour: colours.get(of), median, p10, p90, one: 1, barLane: lane(of), spreadLane: lane(of, 'spread'), end: Math.max(median, p90, 1), label: `${median.toFixed(2)}×${p10 > 1 ? ` ${more}` : ''}`
  })))
  const lanes = panel[0].bars.flatMap(({ series }) => [lane(series), lane(series, 'spread')])

  return {
    width: WIDTH,
    height: { step: LANE, for: 'offset' },
    data: { values },
    encoding: {
      y: { field: 'name', type: 'nominal', sort: null, title: null, scale: { paddingInner: 0.28, paddingOuter: 0.1 }, axis: { domain: false, ticks: false, labelPadding: 10 } },
      yOffset: { field: 'barLane', type: 'nominal', scale: { domain: lanes } }
    },
    layer: [
      {
        mark: { type: 'bar', height: BAR },
        encoding: {
          x: {
            field: 'median',
            type: 'quantitative',
            title: isLast ? axis : null,
            scale: { type: 'log', base: 2, domain: domain(all), nice: false },
            axis: { values: ticks(all), labelExpr: 'format(datum.value, "~g") + "×"', domain: false, labels: isLast, ticks: isLast }
          },
          x2: { field: 'one' },
          color: { field: 'colour', type: 'nominal', scale: null }
        }
      },
      {
        mark: { type: 'rule', color: TEXT, strokeWidth: 2 },
        encoding: { x: { field: 'p10', type: 'quantitative' }, x2: { field: 'p90' }, yOffset: { field: 'spreadLane' } }
      },
      {
        mark: { type: 'text', align: 'left', dx: 6, fontSize: 11, color: TEXT },
        encoding: { x: { field: 'end', type: 'quantitative' }, text: { field: 'label' } }
      },
      {
        data: { values: [{ one: 1 }] },
        mark: { type: 'rule', color: TEXT, strokeWidth: 1.5 },
        encoding: { x: { field: 'one', type: 'quantitative' }, y: null, yOffset: null }
      }
    ]
  }
}

function lane (series: string, of = 'bar'): string {
  return `${series} ${of}`
}

interface Ends { median: number, p10: number, p90: number }

/**
 * From the least to the most, 1 among them, with a little room.
 */
function domain (values: Ends[]): [number, number] {
  const all = [1, ...values.flatMap(({ median, p10, p90 }) => [median, p10, p90]).filter(value => value > 0)]

  return [Math.min(...all) / 1.05, Math.max(...all) * 1.05]
}

function ticks (values: Ends[]): number[] {
  const [least, most] = domain(values)
  const steps = TICKS.find(({ below }) => most / least < below)?.at ?? Array.from({ length: 41 }, (_, index) => 2 ** (index - 20))

  return steps.filter(step => step >= least && step <= most)
}

/**
 * Within a few powers of two those alone are too few
 */
const TICKS = [
  { below: 4, at: [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5] },
  { below: 20, at: [0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 15] }
]
