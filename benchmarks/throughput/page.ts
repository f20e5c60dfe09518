import { provenance, versionsList } from '../report/environment.ts'
import { markdownTable } from '../report/table.ts'
import { throughputChart } from './chart.ts'
import { levelsOf, rowsAt } from './comparisons.ts'
import { describeRounds } from './report.ts'
import { LEGEND, detailTable, footnotes, ratioTable } from './tables.ts'
import type { ReportedRow, ThroughputReport } from './report.ts'
import type { Results } from '../report/results.ts'

export function throughputResults (report: ThroughputReport): Results {
  return {
    name: 'throughput',
    json: report,
    page: throughputPage(report),
    charts: Object.fromEntries(levelsOf(report).map(level => [`throughput-${level}`, throughputChart(report, level)]))
  }
}

export function throughputPage (report: ThroughputReport): string {
  const { rounds, mostRounds, precision, slices, target, seed, freshProcesses } = report

  return [
    '# Throughput',
    provenance(report),
    [
      `Both ends on one machine over loopback, each in a process of its own, whose main thread stays on one core; ${describeRounds(report)}${mostRounds > rounds ? ` (more than ${rounds} while the standard error of a ratio is above ${(precision * 100).toFixed(1)} %)` : ''} of about ${target} ms for each rival${slices === 1 ? '' : `, in ${slices} slices that take turns with those of the others`}, ${freshProcesses ? 'new processes for every round' : 'all in the same processes'}, ${freshProcesses ? 'rows and rivals' : 'rivals'} in random order (seed ${seed}).`,
      'Every sample is in [throughput.json](throughput.json).'
    ].join(' '),
    list([...LEGEND, ...report.notes]),
    ...levelsOf(report).flatMap(level => levelPage(report, level)),
    '## What was measured',
    versionsList(report.rivals)
  ].join('\n\n')
}

function levelPage (report: ThroughputReport, level: string): string[] {
  return [
    `## ${level[0].toUpperCase()}${level.slice(1)} level`,
    `![Bars of the time per operation as a multiple, for each row](throughput-${level}.svg)`,
    markdownTable(ratioTable(report, level)),
    ...rowsAt(report, level).flatMap(row => rowPage(report, row, level))
  ]
}

function rowPage (report: ThroughputReport, row: ReportedRow, level: string): string[] {
  const notes = footnotes(row, level)

  return [
    `### ${row.title}`,
    markdownTable(detailTable(report, row, level)),
    ...(notes.length === 0 ? [] : [notes.join(' ')])
  ]
}

function list (items: string[]): string {
  return items.map(item => `- ${item}`).join('\n')
}
