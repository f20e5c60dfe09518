import { provenance } from '../../test/lab/report/environment.ts'
import { whole } from '../../test/lab/report/numbers.ts'
import { markdownTable } from '../../test/lab/report/table.ts'
import { nagleChart } from './chart.ts'
import { notTheCause } from './findings.ts'
import { arrivalTable, summaryTable } from './tables.ts'
import type { NagleLink, NagleReport } from './report.ts'
import type { Results } from '../report/results-old.ts'

export function nagleResults (report: NagleReport): Results {
  const { spacing, messages, links } = report

  return {
    name: 'nagle',
    json: report,
    page: [
      `# ${messages} one-byte writes, with and without Nagle's algorithm`,
      provenance(report, report.versions),
      `Raw TCP connections, without security or muxer. Writes are ${spacing} ms apart, so that no two share a tick of the event loop, or all in one tick. tcpdump at the sender captures the segments. Times count from the first write to when the receiver's program gets the bytes. Every write, arrival and segment is in \`nagle.json\`.`,
      '![A sequence chart for each round trip, with Nagle\'s algorithm and without](nagle.svg)',
      ...links.flatMap(link => linkPage(link, report))
    ].join('\n\n'),
    charts: { nagle: nagleChart(report) }
  }
}

function linkPage (link: NagleLink, report: NagleReport): string[] {
  return [
    `## Over a round trip of ${whole(link.roundTrip)} ms`,
    `${link.title[0].toUpperCase()}${link.title.slice(1)}, ${link.shape.delay} ms each way; medians of ${link.runs.length / report.cases.length} runs of each case.`,
    markdownTable(summaryTable(link, report)),
    ...notTheCause(link, report.cases),
    'Arrival of each message, in milliseconds after the first write:',
    markdownTable(arrivalTable(link, report))
  ]
}
