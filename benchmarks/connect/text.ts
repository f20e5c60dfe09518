import { textTable } from '../report/table.ts'
import { summariseLink } from './summary.ts'
import { failuresOf, footnotes, runTable, summaryTable } from './tables.ts'
import { verdict } from './verdict.ts'
import type { ConnectReport } from './report.ts'
import type { LinkRuns } from './run.ts'
import type { Rival } from '../rivals/rival.ts'

type Names = Array<Pick<Rival, 'name' | 'title'>>

/**
 * The report of a connect benchmark as a terminal shows it.
 */
export function connectText (report: ConnectReport): string {
  const skipped = report.skipped.map(({ rival, reason }) => `Left out: ${rival}, ${reason}`)
  const verdicts = report.links
    .map(link => verdict(link, summariseLink(link, report.rivals)))
    .filter(text => text != null)

  return [
    ...report.links.map(link => linkText(link, report.rivals)),
    ...(skipped.length > 0 ? [skipped.join('\n')] : []),
    ...verdicts
  ].join('\n\n')
}

function linkText (link: LinkRuns, rivals: Names): string {
  const summaries = summariseLink(link, rivals)
  const failures = failuresOf(link)

  return [
    headline(link),
    'Each run, TCP connection / handshake / total to the first byte, ms',
    textTable(runTable(link, rivals)),
    'Summary, ms (medians unless it says otherwise; closing is not in the total)',
    textTable(summaryTable(summaries)),
    ...footnotes(summaries),
    ...(failures.length > 0 ? [failures.join('\n')] : [])
  ].join('\n\n')
}

function headline (link: LinkRuns): string {
  const shape = link.shape == null || link.kind === 'loopback' ? '' : `, ${link.shape.delay} ms each way`
  const lines = [`== ${link.title}${shape}; measured round trip ${link.roundTrip.toFixed(1)} ms ==`]

  link.passedOver?.forEach(({ kind, reason }) => { lines.push(`   (not ${kind}: ${reason})`) })

  if (link.hiddenRoundTrips > 0) {
    lines.push(`   (this link hides ${link.hiddenRoundTrips} round trip, that of the SYN: round trips and ratios count it, milliseconds do not)`)
  }

  return lines.join('\n')
}
