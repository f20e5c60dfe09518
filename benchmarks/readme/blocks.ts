import { NAMES } from '../../test/lab/peers/names.ts'
import { ms, short, trips, whole } from '../../test/lab/report/numbers.ts'
import { tableOf } from '../../test/lab/report/table.ts'
import { median, sum, summarise } from '../../test/lab/statistics.ts'
import { marked, pairOf, spread } from '../report/tables.ts'
import { medianOf, namesOf, ratioOf, samplesOf } from '../series.ts'
import { rows } from '../throughput/rows/registry.ts'
import type { ColumnOf, Table } from '../../test/lab/report/table.ts'
import type { AddressesReport } from '../addresses/measure.ts'
import type { ConnectReport } from '../connect/measure.ts'
import type { LoadReport, LoadRow } from '../load/report.ts'
import type { NagleReport } from '../nagle/measure.ts'
import type { Comparison, Report } from '../series.ts'

/** By the name of the benchmark. One that was never run has no figures */
export interface Reports {
  connect?: ConnectReport
  throughput?: Report
  load?: LoadReport
  addresses?: AddressesReport
  scale?: Report
  nagle?: NagleReport
  soak?: Report
}

/** What a page has between `<!-- figures:name -->` and `<!-- figures:end -->`, by that name */
export const BLOCKS: Record<string, (reports: Reports) => string> = {
  summary: summaryBlock,
  connect: ({ connect }) => block(connect, dialTable),
  throughput: ({ throughput }) => block(throughput, throughputTable),
  load: ({ load }) => block(load, lineTable),
  addresses: ({ addresses }) => block(addresses, addressTable),
  scale: ({ scale }) => block(scale, memoryTable),
  nagle: ({ nagle }) => block(nagle, nagleTable),
  soak: ({ soak }) => block(soak, soakTable)
}

const RIVALS: [string, string] = ['official', 'ours']

const TITLES = Object.fromEntries(rows.map(({ name, title }) => [name, title]))

/** The rows of streams that README shows */
const STREAMS: Record<string, string> = {
  small: '100 B there and back',
  'pool-reuse': '1 KiB there and back, each on a new stream',
  streams: '1 KiB there and back on each of 20 streams',
  'send-only': '1 KiB in bulk, one way',
  chunking: '200 KiB there and back, in chunks',
  large: '1 MiB there and back'
}

// --- README

/** What is measured, with the official packages, with ours, and the ratio */
type Line = [title: string, official: string, ours: string, ratio: string]

/** Everything at a glance, the rows where we lose too */
function summaryBlock ({ connect, throughput, load, addresses, scale }: Reports): string {
  const used = [connect, throughput, load, addresses, scale].filter(report => report != null)
  const lines = [...streamLines(throughput), ...loadLines(load), ...addressLines(addresses), ...memoryLines(scale)]

  return [
    ...connect == null ? [] : [tripsTable(connect)],
    compactTable({ columns: [{ title: '', align: 'left' }, { title: 'official' }, { title: 'this package' }, { title: 'ratio' }], rows: lines }),
    'What it costs:',
    costs(connect, throughput).map(cost => `- ${cost}`).join('\n'),
    `Medians, with the 10th to 90th percentile of each run's ratio${lines.some(([,,, ratio]) => ratio.includes('~')) ? ' (`~`: not significant)' : ''}. ${origin(used)} [All figures](docs/benchmarks.md), with their commands.`
  ].join('\n\n')
}

function tripsTable (report: ConnectReport): string {
  const { group, roundTrip } = longest(report)
  const stacks = { official: 'official', transport: '`tcp()`', ours: 'all three', 'fast-open': 'with Fast Open' }
  const of = (metric: string): Array<ColumnOf<string>> => Object.entries(stacks).map(([rival, title]) => [title, () => {
    const value = medianOf(report.series, { group, row: 'dial', rival, metric })

    return metric === 'total' ? `${ms(value)} ms` : trips(value)
  }])

  return compactTable({
    columns: [{ title: 'from a dial to the first byte', align: 'left' }, ...Object.values(stacks).map(title => ({ title }))],
    rows: [['round trips', 'round trips'], [`time, ${ms(roundTrip)} ms round trip`, 'total']].map(([title, metric]) => [title, ...of(metric).map(([, cell]) => cell(''))])
  })
}

function streamLines (report?: Report): Line[] {
  return report == null ? [] : Object.entries(STREAMS).flatMap(([row, title]) => timeLine(report, title, { group: 'stream', row, metric: 'time' }, 'µs'))
}

/** None where it was not measured */
function timeLine ({ series }: Report, title: string, of: { group: string, row: string, metric: string }, unit: string, divisor = 1): Line[] {
  const { medians, comparison } = pairOf(series, of, RIVALS)

  return medians.some(Number.isNaN) ? [] : [[title, ...medians.map(value => `${short(value / divisor)} ${unit}`) as [string, string], withSpread(comparison)]]
}

function loadLines (report?: LoadReport): Line[] {
  const [official, ours] = RIVALS.map(name => report?.rows.find(row => isTypical(row) && row.dialer === name && row.listener === name))

  return official == null || ours == null
    ? []
    : [
        [`a connection that uploads over ${official.rate} Mbit/s`, lifeOf(official), lifeOf(ours), ''],
        ['an echo beside that upload', `${whole(official.echo.p50)} ms`, `${whole(ours.echo.p50)} ms`, (ours.echo.p50 / official.echo.p50).toFixed(2)]
      ]
}

function addressLines (report?: AddressesReport): Line[] {
  return report == null
    ? []
    : [['1 silent', 'one silent address'], ['20 silent', '20 silent addresses']].map(([row, title]) => [
        `a dial behind ${title}, ms`,
        ...RIVALS.map(rival => dialTime(report, row, rival)) as [string, string],
        marked(ratioOf(report.series, { group: 'dials', row, rival: 'ours', metric: 'time' }, { rival: 'official' })).replace('-', '')
      ])
}

function memoryLines (report?: Report): Line[] {
  return report == null ? [] : timeLine(report, 'heap of an idle connection, both ends', { group: 'stream', row: most(report, 'stream'), metric: 'heap' }, 'KiB', 1_024)
}

function costs (connect?: ConnectReport, throughput?: Report): string[] {
  const waits = connect == null ? [] : pairOf(connect.series, { group: longest(connect).group, row: 'dial', metric: 'close' }, RIVALS).medians
  const dials = ['connection', 'stream'].map(group => throughput == null ? undefined : ratioOf(throughput.series, { group, row: 'new-dial', rival: 'ours', metric: 'time' }, { rival: 'official' }))
  const loops = throughput == null ? [] : pairOf(throughput.series, { group: 'stream', row: 'pool-reuse', metric: 'loop p99' }, RIVALS).medians

  return [
    ...waits.length === 0 ? [] : [`\`close()\` waits one round trip for the peer's FIN: ${ms(waits[1])} ms in place of ${ms(waits[0])}. \`closeTimeout: 0\` does not wait.`],
    ...dials.includes(undefined) ? [] : [`On loopback, a dial, one message and a close take ${marked(dials[0])} times the official time without encryption, ${marked(dials[1])} with Noise.`],
    ...loops.length === 0 || loops.some(Number.isNaN) ? [] : [`With a stream for each message the longest delays of the event loop (p99) are ${short(loops[1])} ms in place of ${short(loops[0])}.`]
  ]
}

// --- docs/benchmarks.md

function dialTable (report: ConnectReport): string {
  const { group } = longest(report)
  const of = (rival: string, metric: string): number => medianOf(report.series, { group, row: 'dial', rival, metric })

  return compactTable(tableOf(namesOf(report.series, 'rival', { group }), [
    ['stack', rival => NAMES[rival], 'left'],
    ['round trips', rival => trips(of(rival, 'round trips'))],
    ['ms', rival => ms(of(rival, 'total'))],
    ['close, ms', rival => ms(of(rival, 'close'))]
  ]))
}

/** Ratios to official, of streams and of connections alone */
function throughputTable ({ series }: Report): string {
  const columns = [['connection', 'ours', 'time'], ['stream', 'transport', 'time'], ['stream', 'ours', 'time'], ['stream', 'ours', 'CPU'], ['stream', 'keyed', 'time'], ['stream', 'keyed', 'CPU']]
  const rows = [...new Set([...namesOf(series, 'row', { group: 'stream' }), ...namesOf(series, 'row', { group: 'connection' })])]
  const ratio = (row: string, [group, rival, metric]: string[]): Comparison | undefined => ratioOf(series, { group, row, rival, metric }, { rival: 'official' })

  return compactTable(tableOf(rows.filter(row => columns.some(column => ratio(row, column) != null)), [
    ['row', row => STREAMS[row] ?? TITLES[row], 'left'],
    ...columns.map((column): ColumnOf<string> => [
      column[0] === 'connection' ? 'no encryption' : `${NAMES[column[1]]}, ${column[2]}`,
      row => column[1] === 'ours' ? withSpread(ratio(row, column)) : marked(ratio(row, column))
    ])
  ]))
}

function lineTable ({ rows }: LoadReport): string {
  return compactTable(tableOf(rows.filter(isTypical), [
    ['uploader', ({ dialer }) => NAMES[dialer], 'left'],
    ['receiver', ({ listener }) => NAMES[listener], 'left'],
    ['connection', lifeOf],
    ['echo, ms', ({ echo }) => whole(echo.p50)],
    ['new stream, ms', ({ stream }) => stream.p50 == null ? 'never' : whole(stream.p50)],
    ['Mbit/s', ({ arrived, lived }) => short(sum(arrived.uploads) * 8 / 1_000 / lived)]
  ]))
}

const DEAD_ROWS = ['0 silent', '1 silent', '2 silent', '20 silent', '20 refused', '20 no-route', '20 mute']

function addressTable (report: AddressesReport): string {
  const { crawl, crawls, series } = report
  const dials = compactTable(tableOf(DEAD_ROWS, [
    ['ms, behind so many', row => row, 'left'],
    ...namesOf(series, 'rival', { group: 'dials' }).map((rival): ColumnOf<string> => [NAMES[rival], row => dialTime(report, row, rival)])
  ]))
  const told = crawls.map(({ rival, connected }) => `${NAMES[rival]} ${connected.length} in ${short((connected.at(-1) ?? NaN) / 1_000)} s`)

  return crawls.length === 0 ? dials : `${dials}\n\nA crawl of ${crawl.peers} peers connects to ${crawl.reachable} at most: ${told.join(', ')}.`
}

function memoryTable (report: Report): string {
  return compactTable(tableOf(['connection', 'stream'], [
    ['heap of both ends, KiB', group => `${group === 'connection' ? 'no encryption' : 'Noise and yamux'}, among ${whole(Number(most(report, group)))}`, 'left'],
    ...['official', 'transport', 'ours'].map((rival): ColumnOf<string> => [NAMES[rival], group => short(medianOf(report.series, { group, row: most(report, group), rival, metric: 'heap' }) / 1_024)])
  ]))
}

function nagleTable ({ links, series }: NagleReport): string {
  const { group } = links.reduce((shortest, link) => link.roundTrip < shortest.roundTrip ? link : shortest)

  return compactTable(tableOf(namesOf(series, 'row', { group }), [
    ['ten writes of one byte', row => row, 'left'],
    ...RIVALS.map((rival): ColumnOf<string> => [`${NAMES[rival]}, segments`, row => short(medianOf(series, { group, row, rival, metric: 'segments' }))])
  ]))
}

/** A column for each stack. Where several processes had it: their median, and the least and most */
function soakTable ({ series }: Report): string {
  return compactTable(tableOf(namesOf(series, 'row'), [
    ['after the last minute', row => row, 'left'],
    ...namesOf(series, 'rival').map((rival): ColumnOf<string> => [NAMES[rival] ?? rival, row => {
      const { count, max, median, min } = summarise(series.filter(one => one.row === row && one.rival === rival).flatMap(({ samples }) => samples.filter(sample => sample != null)))

      return count > 1 ? `${plain(median)} (${plain(min)}-${plain(max)})` : plain(median)
    }])
  ]))
}

/** A count without a fraction */
function plain (value: number): string {
  return Number.isInteger(value) ? value.toLocaleString('en') : short(value)
}

// --- of both

function block <R extends Report> (report: R | undefined, table: (report: R) => string): string {
  return report == null ? 'Not measured yet.' : [table(report), `\`${report.command}\`: ${madeAt(report)}, load ${report.load.toFixed(1)}.`].join('\n\n')
}

/** Nobody edits it, so nothing is padded */
function compactTable ({ columns, rows }: Table): string {
  // some readers of Markdown take two pipes in a row for one
  const line = (cells: string[]): string => `|${cells.map(cell => cell === '' ? ' ' : cell).join('|')}|`

  return [line(columns.map(({ title }) => title)), line(columns.map(({ align }) => align === 'left' ? '---' : '--:')), ...rows.map(line)].join('\n')
}

function madeAt ({ commit, date }: Report): string {
  return `${commit ?? 'an unknown commit'}, ${date.slice(0, 10)}`
}

/** Where the figures come from. Those of one commit and day are named once */
function origin (reports: Report[]): string {
  const each = (of: (report: Report) => string): string => [...new Set(reports.map(of))].join('; ')

  return reports.length === 0 ? '' : `${each(madeAt)}; ${each(({ cpu, cores, node }) => `${cpu}, ${cores} cores, Node ${node.slice(1)}`)}; load up to ${Math.max(...reports.map(({ load }) => load)).toFixed(1)}.`
}

function withSpread (comparison?: Comparison): string {
  return comparison == null ? '-' : `${marked(comparison)} (${spread(comparison)})`
}

/** The link with the longest round trip */
function longest ({ links }: ConnectReport): ConnectReport['links'][number] {
  return links.reduce((longest, link) => link.roundTrip > longest.roundTrip ? link : longest)
}

/** The row with most connections */
function most ({ series }: Report, group: string): string {
  return `${Math.max(0, ...namesOf(series, 'row', { group }).map(Number))}`
}

/** The line that the chart shows */
function isTypical ({ congestion, queue, rate, roundTrip, uploads }: LoadRow): boolean {
  return rate === 10 && roundTrip === 82 && queue === 256 * 1024 && congestion === 'cubic' && uploads === 1
}

function lifeOf ({ error, lived }: LoadRow): string {
  return error == null ? `lives (${whole(lived / 1_000)} s)` : `ends after ${(lived / 1_000).toFixed(1)} s`
}

function dialTime ({ series }: AddressesReport, row: string, rival: string): string {
  const of = (metric: string): number[] => samplesOf(series, { group: 'dials', row, rival, metric })

  if (of('lasted').length === 0) {
    return '-'
  }

  return of('time').length === 0 ? 'fails' : whole(median(of('time')))
}
