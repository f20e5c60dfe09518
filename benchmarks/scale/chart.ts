import { NAMES } from '../contenders/names.ts'
import { growthChart } from '../report/growth-chart.ts'
import { RIVALS } from '../report/palette.ts'
import { QUANTITIES, countsAt, summaryOf } from './quantities.ts'
import type { ScaleReport } from './report.ts'
import type { TopLevelSpec } from 'vega-lite'

/**
 * How each cost of a connection changes with their number, a panel per cost.
 */
export function scaleChart (report: ScaleReport, level: string): TopLevelSpec {
  return growthChart({
    title: level === 'connection' ? 'Idle connections' : 'Idle connections with Noise and yamux',
    subtitle: ['Medians of both ends together; the band goes from the 10th to the 90th percentile.', 'A median that is not above zero, as memory may be of few connections, is not drawn.'],
    axis: 'connections',
    panels: QUANTITIES.map(quantity => ({
      title: quantity.title,
      axis: quantity.unit,
      series: report.rivals.filter(rival => rival.level === level).map(({ name }) => ({
        name: NAMES[name],
        colour: RIVALS[name],
        points: countsAt(report, level).flatMap(count => {
          const y = summaryOf(report, quantity, { row: `${count}`, level, rival: name })

          return y == null ? [] : [{ x: count, y }]
        })
      }))
    }))
  })
}
