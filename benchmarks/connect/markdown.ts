import { markdownTable, provenance, versionsList } from '../report/markdown.ts'
import { noiseWarnings } from '../report/noise.ts'
import { ms } from '../report/numbers.ts'
import { REFERENCE, summariseLink } from './summary.ts'
import { failuresOf, footnotes, summaryTable } from './tables.ts'
import { verdict } from './verdict.ts'
import type { ConnectReport } from './report.ts'
import type { LinkRuns } from './run.ts'
import type { RivalSummary } from './summary.ts'

/**
 * The report of a connect benchmark as a page beside `connect.svg` and
 * `connect.json`.
 */
export function connectMarkdown (report: ConnectReport): string {
  const skipped = report.skipped.map(({ rival, reason }) => `- ${rival} was left out: ${reason}`)

  return [
    '# From a dial to the first byte that is echoed',
    `${provenance(report)} Seed ${report.seed}. Every sample is in [connect.json](connect.json).`,
    '![Bars of the time that each step takes, for each stack](connect.svg)',
    ...report.links.flatMap(link => linkMarkdown(link, report)),
    '## What was timed',
    [versionsList(report.rivals), ...skipped].join('\n')
  ].join('\n\n')
}

function linkMarkdown (link: LinkRuns, { rivals }: ConnectReport): string[] {
  const summaries = summariseLink(link, rivals).filter(({ total }) => total.count > 0)
  const conclusion = verdict(link, summaries)
  const warnings = [...warningsOf(summaries), ...failuresOf(link)]

  return [
    `## Over ${link.title}`,
    [
      `Measured round trip: ${ms(link.roundTrip)} ms. Medians in milliseconds; closing is not in the total.`,
      ...(link.hiddenRoundTrips > 0 ? [`This link hides ${link.hiddenRoundTrips} round trip, that of the SYN: round trips and ratios count it, milliseconds do not.`] : [])
    ].join(' '),
    markdownTable(summaryTable(summaries)),
    ...footnotes(summaries),
    ...(conclusion == null ? [] : [conclusion]),
    ...(warnings.length === 0 ? [] : [warnings.map(warning => `> ${warning}`).join('\n>\n')])
  ]
}

function warningsOf (summaries: RivalSummary[]): string[] {
  const measured = summaries.map(({ rival, title, total }) => ({ rival, name: title, summary: total }))
  const reference = measured.find(({ rival }) => rival === REFERENCE)

  return reference == null ? [] : noiseWarnings(reference, measured.filter(({ rival }) => rival !== REFERENCE))
}
