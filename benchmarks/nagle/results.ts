import { nagleChart } from './chart.ts'
import { nagleMarkdown } from './markdown.ts'
import type { NagleReport } from './report.ts'
import type { Results } from '../report/write-results.ts'

export function nagleResults (report: NagleReport): Results {
  return {
    name: 'nagle',
    json: report,
    markdown: nagleMarkdown(report),
    charts: { nagle: nagleChart(report) }
  }
}
