import { textTable } from '../report/table.ts'
import { doubts, explain } from './explain.ts'
import { arrivalTable, summaryTable } from './tables.ts'
import { whole } from './wording.ts'
import type { NagleReport } from './report.ts'

/**
 * The report as a terminal shows it.
 */
export function nagleText (report: NagleReport): string {
  return report.links.flatMap(link => [
    `== ${report.messages} one-byte writes over a round trip of ${whole(link.roundTrip)} ms (${link.title}) ==`,
    textTable(summaryTable(link, report)),
    'Arrival of each message, ms after the first write (medians)',
    textTable(arrivalTable(link, report)),
    explain(link, report).join('\n'),
    ...[doubts(link, report.cases)].filter(lines => lines.length > 0).map(lines => lines.map(line => `! ${line}`).join('\n'))
  ]).join('\n\n')
}
