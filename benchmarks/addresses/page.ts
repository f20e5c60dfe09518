import { NAMES } from '../../test/lab/peers/names.ts'
import { provenance } from '../../test/lab/report/environment.ts'
import { whole } from '../../test/lab/report/numbers.ts'
import { markdownTable } from '../../test/lab/report/table.ts'
import { median, percentile } from '../../test/lab/statistics.ts'
import { crawlChart } from './chart.ts'
import type { AddressesReport, CostRow, CrawlRow, Dialed } from './report.ts'
import type { Results } from '../report/results-old.ts'

export function addressesResults (report: AddressesReport): Results {
  const { crawl } = report

  return {
    name: 'addresses',
    json: report,
    page: [
      '# Dead addresses',
      provenance(report),
      `${report.link}, ${whole(report.roundTrip)} ms round trip. A peer has one live address behind dead ones. Each dial is made by a node that knows nothing of the peer, with libp2p's options at their defaults. Times go to the first echoed byte, in ms: the median of ${report.rounds} dials, and how many sockets a dial opened. A dial that failed has the time until it did. go-libp2p and rust-libp2p dial themselves, with the options of their libraries at their defaults; their sockets are counted by the kernel. go-libp2p sorts the addresses itself, by port: its live one has the highest.`,
      dialTable(report),
      ...(report.again.length === 0 ? [] : ['## The next dial', 'The same node dials the peer once more, after its connection was closed. Median time in ms, and sockets.', againTable(report)]),
      ...(report.cost.length === 0 ? [] : costPage(report)),
      ...(crawl.rows.length === 0 ? [] : crawlPage(report))
    ].join('\n\n'),
    charts: crawl.rows.length === 0 ? {} : { addresses: crawlChart(report) }
  }
}

function dialTable ({ dials }: AddressesReport): string {
  const stacks = [...new Set(dials.map(({ stack }) => stack))]
  const kinds = [...new Set(dials.map(({ dead }) => dead))]
  const counts = [...new Set(dials.map(({ count }) => count))]

  return markdownTable({
    columns: [{ title: 'dead', align: 'left' }, { title: 'how many' }, ...stacks.map(stack => ({ title: NAMES[stack] }))],
    rows: kinds.flatMap(kind => counts.map(count => [
      kind,
      `${count}`,
      ...stacks.map(stack => cell(dials.find(row => row.stack === stack && row.dead === kind && row.count === count)?.dials ?? []))
    ]))
  })
}

function againTable ({ again }: AddressesReport): string {
  const stacks = [...new Set(again.map(({ stack }) => stack))]
  const counts = [...new Set(again.map(({ count }) => count))]

  return markdownTable({
    columns: [{ title: 'silent' }, ...stacks.map(stack => ({ title: NAMES[stack] }))],
    rows: counts.map(count => [`${count}`, ...stacks.map(stack => cell(again.find(row => row.stack === stack && row.count === count)?.dials ?? []))])
  })
}

function cell (dials: Dialed[]): string {
  if (dials.length === 0) {
    return '-'
  }

  const failed = dials.filter(({ ms }) => ms == null)
  const sockets = whole(median(dials.map(({ sockets }) => sockets)))

  if (failed.length === dials.length) {
    return `**fails** after ${whole(median(failed.map(({ lasted }) => lasted)))} (${sockets})`
  }

  const time = whole(median(dials.flatMap(({ ms }) => ms ?? [])))

  return `${time} (${sockets})${failed.length === 0 ? '' : `, ${failed.length} of ${dials.length} fail`}`
}

function costPage ({ cost }: AddressesReport): string[] {
  const of = (isRaced: boolean): CostRow[] => cost.filter(row => row.isRaced === isRaced)
  const spread = (isRaced: boolean, key: 'cpu' | 'ms'): string => {
    const values = of(isRaced).map(row => row[key])

    return `${median(values).toFixed(2)} (${percentile(values, 25).toFixed(2)} to ${percentile(values, 75).toFixed(2)})`
  }

  return [
    '## A live first address',
    'Dials over loopback of a peer that has three addresses, the first of them live, in batches of 50: with the race and with `attemptDelay: false`, in turn. For each dial, the median of the batches and the middle half of them.',
    markdownTable({
      columns: [{ title: '', align: 'left' }, { title: 'processor time, ms' }, { title: 'time, ms' }, { title: 'sockets' }],
      rows: [true, false].map(isRaced => [
        isRaced ? 'with the race' : 'without',
        spread(isRaced, 'cpu'),
        spread(isRaced, 'ms'),
        `${median(of(isRaced).map(({ sockets }) => sockets))}`
      ])
    })
  ]
}

function crawlPage ({ crawl }: AddressesReport): string[] {
  const [{ reachable }] = crawl.rows

  return [
    '## A crawl',
    `A node dials ${crawl.peers} peers at once. Each has ${crawl.addresses} addresses; ${Math.round(crawl.dead * 100)} % of all are silent, at random, so that ${reachable} peers are reachable. A dial that fails is made again. The crawl ends when every reachable peer is connected, or after ${crawl.limit} s.`,
    '![Two lines: how many peers are connected, over time](addresses.svg)',
    markdownTable({
      columns: [{ title: '', align: 'left' }, ...crawl.rows.map(({ stack }) => ({ title: NAMES[stack] }))],
      rows: CRAWL_ROWS.map(([title, value]) => [title, ...crawl.rows.map(value)])
    })
  ]
}

const CRAWL_ROWS: Array<[title: string, value: (row: CrawlRow) => string]> = [
  ['peers connected', ({ connected, reachable }) => `${connected.length} of ${reachable}`],
  ['half of them after, s', row => after(row, 0.5)],
  ['90 % after, s', row => after(row, 0.9)],
  ['all after, s', row => after(row, 1)],
  ['sockets at a time', ({ sockets }) => whole(sockets)],
  ['SYNs sent', ({ syns }) => whole(syns)],
  ['processor time, s', ({ cpu }) => (cpu / 1_000).toFixed(1)]
]

function after ({ connected, reachable, lasted }: CrawlRow, share: number): string {
  const time = connected[Math.ceil(reachable * share) - 1]

  return time == null ? `not in ${(lasted / 1_000).toFixed(0)}` : (time / 1_000).toFixed(1)
}
