import { textTable } from '../report/table.ts'
import { LEGEND, costTable, growthTable, idleness, levelsOf } from './tables.ts'
import type { ScaleReport } from './report.ts'

/**
 * The report as a terminal shows it.
 */
export function scaleText (report: ScaleReport): string {
  return [
    ...levelsOf(report).flatMap(level => [
      `== Idle connections, ${level} level ==`,
      textTable(costTable(report, level)),
      idleness(report, level),
      'How the cost of one connection grows',
      textTable(growthTable(report, level))
    ]),
    [...LEGEND, ...report.notes].join('\n')
  ].join('\n\n')
}
