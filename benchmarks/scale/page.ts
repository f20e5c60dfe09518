import { markdownTable } from '../../test/lab/report/table.ts'
import { seriesResults } from '../report/series-results.ts'
import { scaleChart } from './chart.ts'
import { LEGEND, costTable, growthTable, idleness } from './tables.ts'
import type { ScaleReport } from './report.ts'
import type { Results } from '../report/results-old.ts'

export function scaleResults (report: ScaleReport): Results {
  const { rounds } = report

  return seriesResults(report, {
    title: 'Many idle connections',
    how: `${rounds === 1 ? 'one round' : `medians of ${rounds} rounds`}, rivals`,
    legend: LEGEND,
    alternative: 'Lines of each cost over the number of connections',
    chart: level => scaleChart(report, level),
    level: level => [
      markdownTable(costTable(report, level)),
      idleness(report, level),
      'How the cost of one connection grows:',
      markdownTable(growthTable(report, level))
    ]
  })
}
