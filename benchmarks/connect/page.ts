import { provenance, versionsList } from '../../test/lab/report/environment.ts'
import { ms } from '../../test/lab/report/numbers.ts'
import { markdownTable } from '../../test/lab/report/table.ts'
import { connectChart } from './chart.ts'
import { summariseLink } from './summary.ts'
import { failuresOf, footnotes, runTable, summaryTable } from './tables.ts'
import type { ConnectReport, LinkRuns } from './report.ts'
import type { Results } from '../report/results.ts'

export function connectResults (report: ConnectReport): Results {
  const skipped = report.skipped.map(({ rival, reason }) => `- Left out: ${rival}, ${reason}`)

  return {
    name: 'connect',
    json: report,
    page: [
      '# From a dial to the first byte that is echoed',
      `${provenance(report)} Seed ${report.seed}. Every sample is in \`connect.json\`.`,
      '![Bars of the time that each step takes, for each stack](connect.svg)',
      ...report.links.flatMap(link => linkPage(link, report)),
      '## What was timed',
      [versionsList(report.rivals), ...skipped].join('\n')
    ].join('\n\n'),
    charts: { connect: connectChart(report) }
  }
}

function linkPage (link: LinkRuns, { rivals }: ConnectReport): string[] {
  const summaries = summariseLink(link, rivals)
  const delay = link.shape == null || link.shape.delay === 0 ? '' : ` ${link.shape.delay} ms each way.`
  const passedOver = link.passedOver?.map(({ kind, reason }) => ` Not ${kind}: ${reason}.`).join('') ?? ''
  const failures = failuresOf(link)

  return [
    `## Over ${link.title}`,
    [
      `Measured round trip: ${ms(link.roundTrip)} ms.${delay}${passedOver} Medians in milliseconds; closing is not in the total.`,
      ...(link.hiddenRoundTrips > 0 ? [`This link hides ${link.hiddenRoundTrips} round trip, that of the SYN: round trips and ratios count it, milliseconds do not.`] : [])
    ].join(' '),
    markdownTable(summaryTable(summaries)),
    ...footnotes(summaries),
    ...(failures.length === 0 ? [] : [failures.map(failure => `- ${failure}`).join('\n')]),
    'Each run: TCP connection / handshake / total to the first byte.',
    markdownTable(runTable(link, rivals))
  ]
}
