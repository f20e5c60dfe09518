import { provenance } from '../../test/lab/report/environment.ts'
import { whole } from '../../test/lab/report/numbers.ts'
import { markdownTable, tableOf } from '../../test/lab/report/table.ts'
import { fastOpenChart } from './chart.ts'
import type { CapturedDial, FastOpenReport } from './report.ts'
import type { Results } from '../report/results.ts'

export function fastOpenResults (report: FastOpenReport): Results {
  return {
    name: 'fast-open',
    json: report,
    page: [
      '# A dial with TCP Fast Open, and one without',
      provenance(report, {}),
      `${report.link}. Both dials are to a libp2p node of ours over Noise and yamux, with both decorators, after the first dial to the host. tcpdump captures the segments at both ends.`,
      '![Two sequence charts: without TCP Fast Open the SYN carries nothing, with it the proposal and the first message of the handshake](fast-open.svg)',
      ...report.dials.flatMap(dialPage)
    ].join('\n\n'),
    charts: { 'fast-open': fastOpenChart(report) }
  }
}

function dialPage ({ title, firstByte, segments }: CapturedDial): string[] {
  return [
    `## ${title}: first byte after ${whole(firstByte)} ms`,
    markdownTable(tableOf(segments, [
      ['from', ({ from }) => from, 'left'],
      ['sent, ms', ({ sent }) => sent.toFixed(1)],
      ['received, ms', ({ received }) => received.toFixed(1)],
      ['flags', ({ flags }) => flags, 'left'],
      ['bytes', ({ bytes }) => `${bytes}`]
    ]))
  ]
}
