import { markdownTable, provenance } from '../report/markdown.ts'
import { doubts, explain } from './explain.ts'
import { arrivalTable, summaryTable } from './tables.ts'
import { runsText, whole } from './wording.ts'
import type { NagleReport } from './report.ts'
import type { NagleLink } from './run.ts'

/**
 * The report as a page beside its chart and its JSON.
 */
export function nagleMarkdown (report: NagleReport): string {
  const { spacing, messages, links } = report

  return [
    `# ${messages} one-byte writes, with and without Nagle's algorithm`,
    provenance(report, report.versions),
    `Raw TCP connections, without security or muxer. The writes are ${spacing} ms apart, so that no two are in one tick of the event loop, or all in one tick. Segments are counted in a capture by tcpdump at the sender; times are those at which the receiver's program was given the bytes, counted from the first write. Every write, arrival and segment is in [nagle.json](nagle.json).`,
    '![A sequence chart for each round trip, with Nagle\'s algorithm and without](nagle.svg)',
    ...links.flatMap(link => linkMarkdown(link, report))
  ].join('\n\n')
}

function linkMarkdown (link: NagleLink, report: NagleReport): string[] {
  const warnings = doubts(link, report.cases)

  return [
    `## Over a round trip of ${whole(link.roundTrip)} ms`,
    `${link.title[0].toUpperCase()}${link.title.slice(1)}, ${link.shape.delay} ms each way; ${runsText(link.runs.length / report.cases.length)}.`,
    markdownTable(summaryTable(link, report)),
    explain(link, report).join(' '),
    'Arrival of each message, in milliseconds after the first write:',
    markdownTable(arrivalTable(link, report)),
    ...(warnings.length === 0 ? [] : [warnings.map(warning => `> ${warning}`).join('\n>\n')])
  ]
}
