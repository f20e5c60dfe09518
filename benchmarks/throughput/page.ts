import { markdownTable } from '../../test/lab/report/table.ts'
import { seriesResults } from '../report/series-results.ts'
import { throughputChart } from './chart.ts'
import { rowsAt } from './comparisons.ts'
import { describeRounds } from './report.ts'
import { LEGEND, detailTable, footnotes, ratioTable } from './tables.ts'
import type { ThroughputReport } from './report.ts'
import type { Results } from '../report/results.ts'

export function throughputResults (report: ThroughputReport): Results {
  return seriesResults(report, {
    title: 'Throughput',
    how: howMeasured(report),
    legend: LEGEND,
    alternative: 'Bars of the time per operation as a multiple, for each row',
    chart: level => throughputChart(report, level),
    level: level => [
      markdownTable(ratioTable(report, level)),
      ...rowsAt(report, level).flatMap(row => [`### ${row.title}`, markdownTable(detailTable(report, row, level)), ...footnotes(row, level)])
    ]
  })
}

function howMeasured (report: ThroughputReport): string {
  const { rounds, mostRounds, precision, slices, target, freshProcesses } = report
  const more = mostRounds > rounds ? ` (more than ${rounds} while the standard error of a ratio is above ${(precision * 100).toFixed(1)} %)` : ''
  const turns = slices === 1 ? '' : `, in ${slices} slices that take turns with those of the others`

  return `${describeRounds(report)}${more} of about ${target} ms for each rival${turns}, ${freshProcesses ? 'new processes for every round, rows and rivals' : 'all in the same processes, rivals'}`
}
