import path from 'node:path'
import { writeResults } from '../report/write-results.ts'
import { nagleChart } from './chart.ts'
import { nagleMarkdown } from './markdown.ts'
import type { NagleReport } from './report.ts'

/**
 * @returns the files, as seen from where we are
 */
export async function saveNagle (report: NagleReport, directory: string): Promise<string[]> {
  const files = await writeResults('nagle', {
    json: report,
    markdown: nagleMarkdown(report),
    charts: { nagle: nagleChart(report) }
  }, directory)

  return files.map(file => path.relative(process.cwd(), file))
}
