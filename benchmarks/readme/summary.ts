import { ms, short, trips } from '../../test/lab/report/numbers.ts'
import { markdownTable } from '../../test/lab/report/table.ts'
import { marked } from '../report/comparison.ts'
import { medianOf } from '../series.ts'
import { timeRatio } from '../throughput/comparisons.ts'
import { quotedLink } from './quoted.ts'
import type { Reports } from './reports.ts'
import type { Environment } from '../../test/lab/report/environment.ts'
import type { RivalSummary } from '../connect/report.ts'
import type { ThroughputReport } from '../throughput/report.ts'

/** What is measured, with the official transport, with ours, and the ratio */
type Line = [string, string, string, string]

const STREAM = 'stream'
const CONNECTION = 'connection'

/**
 * The figures of README: three that we win, and three that we lose. A suite that was
 * never run has no line.
 */
export function summaryBlock ({ connect, throughput }: Reports): string {
  const link = connect == null ? undefined : quotedLink(connect)
  const official = link?.summaries.find(({ rival }) => rival === 'official')
  const ours = link?.summaries.find(({ rival }) => rival === 'ours')
  const dials = (line: (official: RivalSummary, ours: RivalSummary, roundTrip: string) => Line): Line[] => {
    return link == null || official == null || ours == null ? [] : [line(official, ours, ms(link.link.roundTrip))]
  }
  const operations = (line: (report: ThroughputReport) => Line): Line[] => throughput == null ? [] : [line(throughput)]

  const gains = table([
    ...dials((official, ours, roundTrip) => [
      `dial to first echoed byte, ${roundTrip} ms away`,
      `${trips(official.roundTrips)} round trips, ${ms(official.total.median)} ms`,
      `${trips(ours.roundTrips)} round trips, ${ms(ours.total.median)} ms`,
      marked(ours)
    ]),
    ...operations(report => timeLine(report, '1 KiB request and answer on a new stream', 'pool-reuse', STREAM)),
    ...operations(report => timeLine(report, '1 KiB message of many on one stream', 'send-only', STREAM))
  ])
  const costs = table([
    ...dials((official, ours, roundTrip) => [
      `\`close()\` waits for the peer's FIN, ${roundTrip} ms away`,
      `${ms(official.close.median)} ms`,
      `${ms(ours.close.median)} ms`,
      short(ours.close.median / official.close.median)
    ]),
    ...operations(report => timeLine(report, 'dial, 1 KiB each way and close, no encryption', 'new-dial', CONNECTION)),
    ...operations(report => delayLine(report, 'longest event-loop delays (p99), a stream per message', 'pool-reuse', STREAM))
  ])

  return [
    '## What you gain',
    gains,
    '## What it costs',
    costs,
    source([connect, throughput], `${gains}${costs}`.includes('~'))
  ].join('\n\n')
}

function table (rows: Line[]): string {
  return markdownTable({
    columns: [
      { title: '', align: 'left' },
      { title: '@libp2p/tcp 11' },
      { title: 'libp2p-fast-tcp' },
      { title: 'ratio' }
    ],
    rows
  })
}

function timeLine (report: ThroughputReport, title: string, row: string, level: string): Line {
  const [official, ours] = medians(report, row, level, 'time')
  const comparison = timeRatio(report, row, { level, rival: 'ours' }, { level, rival: 'official' })

  return [title, `${short(official)} us`, `${short(ours)} us`, marked(comparison)]
}

function delayLine (report: ThroughputReport, title: string, row: string, level: string): Line {
  const [official, ours] = medians(report, row, level, 'loop delay p99')

  return [title, `${short(official)} ms`, `${short(ours)} ms`, short(ours / official)]
}

function medians (report: ThroughputReport, row: string, level: string, metric: string): number[] {
  return ['official', 'ours'].map(rival => medianOf(report.samples, { row, level, rival, metric }))
}

function source (reports: Array<Environment | undefined>, isNoisy: boolean): string {
  const made = reports.flatMap(report => report == null ? [] : `\`${report.command}\` at ${report.commit ?? 'an unknown commit'} on ${report.date.slice(0, 10)}`)
  const [{ cpu, cores, node }] = reports.flatMap(report => report ?? [])

  return `Medians of ${made.join(' and ')}, with Noise and yamux where no other is named (${cpu}, ${cores} cores, Node ${node}). [Every figure](docs/benchmarks.md), with its spread and its samples.${isNoisy ? ' ~: the difference may be noise.' : ''}`
}
