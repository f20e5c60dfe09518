import { ms, short, trips } from '../../test/lab/report/numbers.ts'
import { markdownTable } from '../../test/lab/report/table.ts'
import { marked, pairOf } from '../report/tables.ts'
import type { ConnectReport } from '../connect/measure.ts'
import type { Report } from '../series.ts'

/** What is measured, with the official transport, with ours, and the ratio */
type Line = [string, string, string, string]

const RIVALS: [string, string] = ['official', 'ours']

/**
 * The figures of README: three that we win, and three that we lose. A benchmark that was
 * never run has no line.
 */
export function summaryBlock (reports: Report[]): string {
  const connect = reports.find((report): report is ConnectReport => report.benchmark === 'connect')
  const throughput = reports.find(({ benchmark }) => benchmark === 'throughput')
  const gains = table([
    ...dialLines(connect, 'total', ([officialTrips, oursTrips], [official, ours], roundTrip) => [
      `dial to first echoed byte, ${roundTrip} ms away`,
      `${trips(officialTrips)} round trips, ${ms(official)} ms`,
      `${trips(oursTrips)} round trips, ${ms(ours)} ms`
    ]),
    ...timeLines(throughput, '1 KiB request and answer on a new stream', 'pool-reuse', 'stream'),
    ...timeLines(throughput, '1 KiB message of many on one stream', 'send-only', 'stream')
  ])
  const costs = table([
    ...dialLines(connect, 'close', (_, [official, ours], roundTrip) => [`\`close()\` waits for the peer's FIN, ${roundTrip} ms away`, `${ms(official)} ms`, `${ms(ours)} ms`]),
    ...timeLines(throughput, 'dial, 1 KiB each way and close, no encryption', 'new-dial', 'connection'),
    ...timeLines(throughput, 'longest event-loop delays (p99), a stream per message', 'pool-reuse', 'stream', 'loop p99', 'ms')
  ])

  return [
    '## What you gain',
    gains,
    '## What it costs',
    costs,
    source([connect, throughput].filter(report => report != null), `${gains}${costs}`.includes('~'))
  ].join('\n\n')
}

function table (rows: Line[]): string {
  return markdownTable({ columns: [{ title: '', align: 'left' }, { title: '@libp2p/tcp 11' }, { title: 'libp2p-fast-tcp' }, { title: 'ratio' }], rows })
}

/** Of the longest link */
function dialLines (report: ConnectReport | undefined, metric: string, line: (trips: number[], times: number[], roundTrip: string) => [string, string, string]): Line[] {
  if (report == null) {
    return []
  }

  const { group, roundTrip } = report.links.reduce((longest, link) => link.roundTrip > longest.roundTrip ? link : longest)
  const [trips, times] = ['round trips', metric].map(metric => pairOf(report.series, { group, row: 'dial', metric }, RIVALS))

  return [[...line(trips.medians, times.medians, ms(roundTrip)), marked(metric === 'total' ? trips.comparison : times.comparison)]]
}

function timeLines (report: Report | undefined, title: string, row: string, group: string, metric = 'time', unit = 'us'): Line[] {
  if (report == null) {
    return []
  }

  const { medians: [official, ours], comparison } = pairOf(report.series, { group, row, metric }, RIVALS)

  return [[title, `${short(official)} ${unit}`, `${short(ours)} ${unit}`, marked(comparison)]]
}

function source (reports: Report[], isNoisy: boolean): string {
  const made = reports.map(({ command, commit, date }) => `\`${command}\` at ${commit ?? 'an unknown commit'} on ${date.slice(0, 10)}`)
  const [{ cpu, cores, node }] = reports

  return `Medians of ${made.join(' and ')}, with Noise and yamux where no other is named (${cpu}, ${cores} cores, Node ${node}). [Every figure](docs/benchmarks.md), with its spread and its samples.${isNoisy ? ' ~: the difference may be noise.' : ''}`
}
