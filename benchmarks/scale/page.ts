import { provenance, versionsList } from '../report/environment.ts'
import { markdownTable } from '../report/table.ts'
import { scaleChart } from './chart.ts'
import { LEGEND, costTable, growthTable, idleness, levelsOf } from './tables.ts'
import type { ScaleReport } from './report.ts'
import type { Results } from '../report/results.ts'

export function scaleResults (report: ScaleReport): Results {
  return {
    name: 'scale',
    json: report,
    page: scalePage(report),
    charts: Object.fromEntries(levelsOf(report).map(level => [`scale-${level}`, scaleChart(report, level)]))
  }
}

export function scalePage (report: ScaleReport): string {
  const { rounds, seed } = report

  return [
    '# Many idle connections',
    provenance(report),
    [
      `Both ends on one machine over loopback, each in a process of its own, whose main thread stays on one core; ${rounds === 1 ? 'one round' : `medians of ${rounds} rounds`}, rivals in random order (seed ${seed}).`,
      'Every sample is in [scale.json](scale.json).'
    ].join(' '),
    [...LEGEND, ...report.notes].map(line => `- ${line}`).join('\n'),
    ...levelsOf(report).flatMap(level => [
      `## ${level[0].toUpperCase()}${level.slice(1)} level`,
      `![Lines of each cost over the number of connections](scale-${level}.svg)`,
      markdownTable(costTable(report, level)),
      idleness(report, level),
      'How the cost of one connection grows:',
      markdownTable(growthTable(report, level))
    ]),
    '## What was measured',
    versionsList(report.rivals)
  ].join('\n\n')
}
