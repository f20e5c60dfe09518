import { bullets, page, section } from '../lab/report/page.ts'
import { tableOf } from '../lab/report/table.ts'
import { JS_DIALERS, LISTENERS, NATIVE, SECURITIES, allCells, isSame, nameOf } from './cells.ts'
import { excesses, faults } from './limits.ts'
import { timingOf } from './results.ts'
import type { Cell, Optimism, PeerKind, Security } from './cells.ts'
import type { Dials, Results } from './results.ts'
import type { ColumnOf } from '../lab/report/table.ts'

type Dialer = Omit<Cell, 'listener'>

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

/** The page in Markdown */
export function report (results: Results): string {
  const { environment, versions, cells, link } = results
  const timings = new Map(cells.map(result => [result, timingOf(result, results)]))

  return page({
    title: 'Interop matrix',
    about: 'Dials between this package and peers that know nothing of it. Written by `npm run test:interop`; do not edit. The raw samples are in `results.json`.',
    environment,
    versions,
    parts: [
      bullets('**Not passed:**', [...faults(results), ...excesses(results)].map(line => line.replaceAll('\n', ' '))),
      legend(results),
      section('What js-libp2p dials', '', tableOf(JS_DIALERS, [
        ['dialer', dialerTitle, 'left'],
        ['encrypter', ({ security }) => SECURITY_TITLES[security], 'left'],
        ...LISTENERS.map((listener): ColumnOf<Dialer> => [`to ${TITLES[listener]}`, dialer => summary({ ...dialer, listener }, results)])
      ])),
      link == null ? '' : IDENTIFY_NOTE,
      section('What dials ours', '', tableOf(NATIVE, [
        ['dialer', dialer => TITLES[dialer], 'left'],
        ...SECURITIES.map((security): ColumnOf<PeerKind> => [SECURITY_TITLES[security], dialer => summary({ dialer, listener: 'ours', security }, results)])
      ])),
      repetitions(results),
      section('Every cell', '', tableOf(cells, [
        ['dialer', ({ cell }) => dialerTitle(cell), 'left'],
        ['listener', ({ cell }) => TITLES[cell.listener], 'left'],
        ['encrypter', ({ cell }) => SECURITY_TITLES[cell.security], 'left'],
        ['loopback', ({ loopback }) => succeeded(loopback)],
        ['delayed', ({ delayed }) => delayed == null ? '' : succeeded(delayed)],
        ['first byte, median (p10 to p90)', result => {
          const timing = timings.get(result)

          return timing == null ? '' : `${timing.median.toFixed(0)} ms (${timing.p10.toFixed(0)} to ${timing.p90.toFixed(0)})`
        }],
        ['round trips', result => timings.get(result)?.roundTrips.toFixed(2) ?? ''],
        ['of official', result => timings.get(result)?.ofOfficial?.toFixed(2) ?? '']
      ]))
    ]
  })
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

function summary (cell: Cell, results: Results): string {
  const result = results.cells.find(other => isSame(other.cell, cell))

  if (result == null) {
    return allCells().some(other => isSame(other, cell)) ? 'skipped' : ''
  }

  const timing = timingOf(result, results)

  return [
    succeeded(result.loopback),
    timing?.roundTrips.toFixed(1),
    timing?.ofOfficial?.toFixed(2)
  ].filter(part => part != null).join(' · ')
}

function dialerTitle ({ dialer, optimism, identify }: Dialer): string {
  const title = optimism == null ? TITLES[dialer] : OPTIMISM_TITLES[optimism]

  return identify === true ? `${title}, identify` : title
}

function succeeded ({ dials, successes }: Dials): string {
  return `${successes}/${dials}`
}
