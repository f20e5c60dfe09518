import { provenance, versionsList } from '../../test/lab/report/environment.ts'
import { levelsOf } from '../series-old.ts'
import type { Results } from './results-old.ts'
import type { SeriesReport } from '../series-old.ts'
import type { TopLevelSpec } from 'vega-lite'

interface Parts {
  title: string
  how: string
  legend: string[]

  /** What its charts show, for those who cannot see them. */
  alternative: string
  chart(level: string): TopLevelSpec

  /** Paragraphs and tables of one level. */
  level(level: string): string[]
}

/** A page with a section and a chart for each level that was measured. */
export function seriesResults (report: SeriesReport & { benchmark: string }, { title, how, legend, alternative, chart, level }: Parts): Results {
  const name = report.benchmark
  const levels = levelsOf(report)

  return {
    name,
    json: report,
    page: [
      `# ${title}`,
      provenance(report),
      `Both ends on one machine over loopback, each in a process of its own, whose main thread stays on one core; ${how} in random order (seed ${report.seed}). Every sample is in \`${name}.json\`.`,
      [...legend, ...report.notes].map(line => `- ${line}`).join('\n'),
      ...levels.flatMap(of => [`## ${of[0].toUpperCase()}${of.slice(1)} level`, `![${alternative}](${name}-${of}.svg)`, ...level(of)]),
      '## What was measured',
      versionsList(report.rivals)
    ].join('\n\n'),
    charts: Object.fromEntries(levels.map(level => [`${name}-${level}`, chart(level)]))
  }
}
