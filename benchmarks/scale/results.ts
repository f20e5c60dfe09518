import { scaleChart } from './chart.ts'
import { scaleMarkdown } from './markdown.ts'
import { levelsOf } from './tables.ts'
import type { ScaleReport } from './report.ts'
import type { Results } from '../report/write-results.ts'

export function scaleResults (report: ScaleReport): Results {
  return {
    name: 'scale',
    json: report,
    markdown: scaleMarkdown(report),
    charts: Object.fromEntries(levelsOf(report).map(level => [`scale-${level}`, scaleChart(report, level)]))
  }
}
