import { textTable } from '../report/table.ts'
import { levelsOf, rowsAt } from './comparisons.ts'
import { LEGEND, detailTable, footnotes } from './tables.ts'
import type { ThroughputReport } from './report.ts'

/**
 * The report as a terminal shows it.
 */
export function throughputText (report: ThroughputReport): string {
  return [
    ...report.rows.flatMap(row => levelsOf(report).filter(level => rowsAt(report, level).includes(row)).map(level => [
      `== ${row.title}, ${level} level ==`,
      textTable(detailTable(report, row, level)),
      ...footnotes(row, level)
    ].join('\n'))),
    [...LEGEND, ...report.notes].join('\n')
  ].join('\n\n')
}
