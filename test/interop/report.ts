import { JS_DIALERS, LISTENERS, NATIVE, SECURITIES, allCells, isSame, nameOf } from './cells.ts'
import { successes, timingOf } from './results.ts'
import type { Cell, Optimism, PeerKind, Security } from './cells.ts'
import type { CellResult, Results } from './results.ts'
import type { Versions } from './versions.ts'

export interface ReportInit {
  results: Results
  versions: Versions
  command: string
  date: string

  /** What keeps the matrix from passing */
  complaints: string[]
}

const TITLES: Record<PeerKind, string> = {
  official: '`@libp2p/tcp`',
  go: 'go-libp2p',
  rust: 'rust-libp2p',
  ours: 'ours'
}

const SECURITY_TITLES: Record<Security, string> = {
  noise: 'Noise',
  tls: 'TLS'
}

const OPTIMISM_TITLES: Record<Optimism, string> = {
  off: 'ours, `optimistic: false`',
  transport: 'ours, `tcp()` alone',
  all: 'ours, both decorators, `negotiateFully: false`',
  known: 'ours, both decorators, peer known from identify'
}

const IDENTIFY_NOTE = `In the rows with identify the dialer asks who the listener is at the same time, in the others it does not; listeners always
ask. A listener on \`@libp2p/tcp\` sends every buffer as a packet of its own, and TCP admits 10 unacknowledged packets at
first and 18 a round trip later. Without identify the echo is in the 18th; with identify in both directions there are more,
and it depends on their order whether the echo is among the first 18 or waits for another round trip.`

/**
 * The results as a document in Markdown.
 */
export function report (init: ReportInit): string {
  const { results, versions, command, date, complaints } = init

  return [
    '# Interop matrix',
    `\`${command}\`, ${date}. Written by that command; the raw samples are in \`results.json\`.`,
    complaints.length === 0 ? '' : `**Not passed:**\n\n${complaints.map(complaint => `- ${complaint.replaceAll('\n', ' ')}`).join('\n')}`,
    tables(results),
    repetitions(results),
    '## Every cell',
    cellTable(results),
    '## Measured with',
    list(versions)
  ].filter(part => part !== '').join('\n\n') + '\n'
}

/**
 * The two matrices, and how to read them.
 */
export function tables (results: Results): string {
  return [
    legend(results),
    '## What js-libp2p dials',
    dialedTable(results),
    ...(results.link == null ? [] : [IDENTIFY_NOTE]),
    '## What dials ours',
    dialingTable(results)
  ].join('\n\n')
}

function legend ({ dials, runs, link }: Results): string {
  const dialed = `dials over loopback that succeeded, of ${dials} (each a new connection, a 256 KiB echo, a half-close and a comparison)`

  if (link == null) {
    return `In each cell: ${dialed}.`
  }

  const hidden = link.hiddenRoundTrips === 0 ? 'The round trip of the SYN is among them.' : 'The proxy hides the round trip of the SYN: add one.'

  return `In each cell: ${dialed} · round trips from dial to first echoed byte, median of ${runs} (${link.title}; ${link.shape.delay} ms each way, measured round trip ${link.roundTrip.toFixed(1)} ms) · the same as a share of what \`@libp2p/tcp\` takes to that listener. ${hidden}`
}

function repetitions ({ repeated = [] }: Results): string {
  return repeated.length === 0 ? '' : `Measured a second time together with \`@libp2p/tcp\`, because the first was over its limit: ${repeated.map(nameOf).join('; ')}.`
}

function dialedTable (results: Results): string {
  return table(
    ['dialer', 'encrypter', ...LISTENERS.map(listener => `to ${TITLES[listener]}`)],
    JS_DIALERS.map(row => [
      dialerTitle(row),
      SECURITY_TITLES[row.security],
      ...LISTENERS.map(listener => summary({ ...row, listener }, results))
    ])
  )
}

function dialingTable (results: Results): string {
  return table(
    ['dialer', ...SECURITIES.map(security => SECURITY_TITLES[security])],
    NATIVE.map(dialer => [
      TITLES[dialer],
      ...SECURITIES.map(security => summary({ dialer, listener: 'ours', security }, results))
    ])
  )
}

function summary (cell: Cell, results: Results): string {
  const result = results.cells.find(other => isSame(other.cell, cell))

  if (result == null) {
    return allCells().some(other => isSame(other, cell)) ? 'skipped' : ''
  }

  const timing = timingOf(result, results)

  return [
    `${successes(result.loopback)}/${result.loopback.length}`,
    timing?.roundTrips.toFixed(1),
    timing?.ofOfficial?.toFixed(2)
  ].filter(part => part != null).join(' · ')
}

function cellTable (results: Results): string {
  return table(
    ['dialer', 'listener', 'encrypter', 'loopback', 'delayed', 'first byte, median (p10 to p90)', 'round trips', 'of official'],
    results.cells.map(result => cellRow(result, results))
  )
}

function cellRow (result: CellResult, results: Results): string[] {
  const { cell, loopback, delayed = [] } = result
  const timing = timingOf(result, results)
  const times = timing == null ? '' : `${timing.median.toFixed(0)} ms (${timing.p10.toFixed(0)} to ${timing.p90.toFixed(0)})`

  return [
    dialerTitle(cell),
    TITLES[cell.listener],
    SECURITY_TITLES[cell.security],
    `${successes(loopback)}/${loopback.length}`,
    `${successes(delayed)}/${delayed.length}`,
    times,
    timing?.roundTrips.toFixed(2) ?? '',
    timing?.ofOfficial?.toFixed(2) ?? ''
  ]
}

function dialerTitle ({ dialer, optimism, identify }: Omit<Cell, 'listener'>): string {
  const title = optimism == null ? TITLES[dialer] : OPTIMISM_TITLES[optimism]

  return identify === true ? `${title}, identify` : title
}

function list (versions: Versions): string {
  return Object.entries(versions)
    .map(([name, entries]) => `- ${name}: ${Object.entries(entries).map(([key, value]) => `${key} ${value}`).join(', ')}`)
    .join('\n')
}

function table (head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows]
    .map(row => `| ${row.join(' | ')} |`)
    .join('\n')
}
