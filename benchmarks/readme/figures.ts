import { failuresOf, firstByteTable } from '../connect/tables.ts'
import { notTheCause } from '../nagle/findings.ts'
import { summaryTable } from '../nagle/tables.ts'
import { provenance } from '../report/environment.ts'
import { ms, whole } from '../report/numbers.ts'
import { markdownTable } from '../report/table.ts'
import { LEGEND as SCALE_LEGEND, quantityTable } from '../scale/tables.ts'
import { levelsOf } from '../series.ts'
import { describeRounds } from '../throughput/report.ts'
import { ratioTable } from '../throughput/tables.ts'
import { quotedLink, quotedNagleLink } from './quoted.ts'
import type { Reports } from './reports.ts'
import type { ConnectReport } from '../connect/report.ts'
import type { NagleReport } from '../nagle/report.ts'
import type { ScaleReport } from '../scale/report.ts'
import type { ThroughputReport } from '../throughput/report.ts'

/** As seen from docs/benchmarks.md */
const DIRECTORY = '../benchmarks/results'

const NOISE = '~: the difference may be noise.'

/** The figures of docs/benchmarks.md, each with what made it. */
export function figuresBlock ({ connect, nagle, throughput, scale }: Reports): string {
  return [
    `Written by \`npm run benchmark:all\` from the JSON files in [benchmarks/results](${DIRECTORY}), which hold every sample. Ratios compare what was measured in the same run.`,
    ...(connect == null ? [] : connectSection(connect)),
    ...(nagle == null ? [] : nagleSection(nagle)),
    ...(throughput == null ? [] : throughputSection(throughput)),
    ...(scale == null ? [] : scaleSection(scale))
  ].join('\n\n')
}

function connectSection (report: ConnectReport): string[] {
  const { link, summaries } = quotedLink(report)

  return [
    '## Until the first byte is echoed',
    `Over a round trip of ${ms(link.roundTrip)} ms (${link.title}), medians of ${summaries[0]?.total.count ?? 0} new connections each. ${NOISE}`,
    markdownTable(firstByteTable(summaries)),
    ...failuresOf(link),
    chart('connect', 'Where the time to the first byte goes, for each stack'),
    source('connect', report, versionsOf(report.rivals))
  ]
}

function nagleSection (report: NagleReport): string[] {
  const link = quotedNagleLink(report)

  return [
    '## Nagle\'s algorithm',
    `${report.messages} one-byte writes on raw connections, over a round trip of ${whole(link.roundTrip)} ms: the segments on the wire, and when their bytes arrive.`,
    markdownTable(summaryTable(link, report)),
    ...notTheCause(link, report.cases),
    chart('nagle', 'Segments on the wire with Nagle\'s algorithm and without'),
    source('nagle', report, report.versions)
  ]
}

function throughputSection (report: ThroughputReport): string[] {
  return [
    '## Throughput',
    `Time per operation over loopback, as a multiple (below 1 is faster): medians of ${describeRounds(report)} with their 10th to 90th percentile. ${NOISE} The rows and the ratios of tcp-conn are those of a published report on that Go package.`,
    ...levelsOf(report).flatMap(level => [
      level === 'connection' ? 'A connection alone, against raw `net`, which writes once for each message:' : 'A stream through Noise and yamux, against the official transport:',
      markdownTable(ratioTable(report, level)),
      chart(`throughput-${level}`, `Time per operation as a multiple, ${level} level`)
    ]),
    source('throughput', report, versionsOf(report.rivals))
  ]
}

function scaleSection (report: ScaleReport): string[] {
  return [
    '## Many connections',
    `What a connection costs both ends together, ${report.rounds === 1 ? 'in one round' : `medians of ${report.rounds} rounds`}. ${SCALE_LEGEND.at(-1)}`,
    ...levelsOf(report).flatMap(level => [
      level === 'connection' ? 'Connections alone:' : 'Connections with Noise and yamux:',
      markdownTable(quantityTable(report, level)),
      chart(`scale-${level}`, `Costs over the number of connections, ${level} level`)
    ]),
    source('scale', report, versionsOf(report.rivals))
  ]
}

/** Of what every ratio compares; pages have those of all. */
function versionsOf (rivals: Array<{ name: string, versions: Record<string, string> }>): Record<string, string> {
  return Object.assign({}, ...rivals.filter(({ name }) => name === 'official' || name === 'ours').map(({ versions }) => versions))
}

function chart (name: string, text: string): string {
  return `![${text}](${DIRECTORY}/${name}.svg)`
}

function source (name: string, ...of: Parameters<typeof provenance>): string {
  return `${provenance(...of).replaceAll('\n', ' ')} More in [${name}.md](${DIRECTORY}/${name}.md).`
}
