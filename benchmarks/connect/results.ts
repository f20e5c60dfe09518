import { connectChart } from './chart.ts'
import { connectMarkdown } from './markdown.ts'
import type { ConnectReport } from './report.ts'
import type { Results } from '../report/write-results.ts'

export function connectResults (report: ConnectReport): Results {
  return {
    name: 'connect',
    json: report,
    markdown: connectMarkdown(report),
    charts: { connect: connectChart(report) }
  }
}
