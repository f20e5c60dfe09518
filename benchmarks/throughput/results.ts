import { throughputChart } from './chart.ts'
import { levelsOf } from './comparisons.ts'
import { throughputMarkdown } from './markdown.ts'
import type { ThroughputReport } from './report.ts'
import type { Results } from '../report/write-results.ts'

export function throughputResults (report: ThroughputReport): Results {
  return {
    name: 'throughput',
    json: report,
    markdown: throughputMarkdown(report),
    charts: Object.fromEntries(levelsOf(report).map(level => [`throughput-${level}`, throughputChart(report, level)]))
  }
}
