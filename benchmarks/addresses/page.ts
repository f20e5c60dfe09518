import { NAMES } from '../../test/lab/peers/names.ts'
import { whole } from '../../test/lab/report/numbers.ts'
import { markdownTable, tableOf } from '../../test/lab/report/table.ts'
import { median } from '../../test/lab/statistics.ts'
import { RIVALS } from '../report/palette.ts'
import { medianTable } from '../report/tables.ts'
import { namesOf, samplesOf } from '../series.ts'
import type { AddressesReport } from './measure.ts'
import type { ColumnOf } from '../../test/lab/report/table.ts'
import type { Chart } from '../report/chart.ts'
import type { Results } from '../report/results.ts'

export function addressesPage (report: AddressesReport): Results<AddressesReport> {
  const { crawl: { addresses, dead, peers, reachable }, crawls, link, roundTrip, series } = report
  const has = (group: string): boolean => series.some(one => one.group === group)

  return {
    report,
    title: 'Dead addresses',
    about: `${link}, ${whole(roundTrip)} ms round trip. A peer has one live address behind dead ones. Times go to the first echoed byte, in ms, with libp2p's options at their defaults; in brackets: how many sockets a dial opened. Second dials are made by the same node, after its connection was closed. go-libp2p and rust-libp2p dial themselves. go-libp2p sorts the addresses by port: its live one has the highest.`,
    sections: [
      ...['dials', 'second dials'].filter(has).map(group => ({ title: `${group[0].toUpperCase()}${group.slice(1)}`, table: dialTable(report, group) })),
      ...has('crawl')
        ? [{
            title: 'A crawl',
            text: `A node dials ${peers} peers at once. Each has ${addresses} addresses; ${Math.round(dead * 100)} % of all are silent, at random, so that ${reachable} peers are reachable. A dial that fails is made again.`,
            table: medianTable(series, 'crawl', [
              { title: 'connected', metric: 'connected' },
              ...['50 %', '90 %', '100 %'].map(share => ({ title: `${share} after, s`, metric: share })),
              { title: 'sockets at a time', metric: 'sockets' },
              { title: 'SYNs', metric: 'SYNs' },
              { title: 'CPU, s', metric: 'CPU' }
            ])
          }]
        : []
    ],
    charts: crawls.length === 0 ? {} : { addresses: crawlChart(report) }
  }
}

function dialTable ({ series }: AddressesReport, group: string): string {
  return markdownTable(tableOf(namesOf(series, 'row', { group }), [
    ['dead addresses before', row => row, 'left'],
    ...namesOf(series, 'rival', { group }).map((rival): ColumnOf<string> => [NAMES[rival], row => {
      const [times, lasted, sockets] = ['time', 'lasted', 'sockets'].map(metric => samplesOf(series, { group, row, rival, metric }))
      const failed = lasted.length - times.length

      if (times.length === 0) {
        return `**fails** after ${whole(median(lasted))} (${whole(median(sockets))})`
      }

      return `${whole(median(times))} (${whole(median(sockets))})${failed === 0 ? '' : `, ${failed} of ${lasted.length} fail`}`
    }])
  ]))
}

/** How many peers a crawl has connected to, over time */
function crawlChart ({ crawl, crawls }: AddressesReport): Chart {
  const until = Math.max(...crawls.map(({ lasted }) => lasted)) / 1_000

  return {
    title: `A crawl of ${crawl.peers} peers, ${Math.round(crawl.dead * 100)} % of whose addresses are silent`,
    subtitle: [`Peers connected, over time. ${crawl.reachable} have a live address; a dial that fails is made again.`],
    legend: crawls.map(({ rival }) => ({ name: NAMES[rival], colour: RIVALS[rival] })),
    panels: [{
      width: 640,
      height: 260,
      x: { title: 'seconds since the first dial', domain: [0, until] },
      y: { title: 'peers connected' },
      marks: crawls.map(({ rival, connected }) => ({
        type: 'line',
        colour: RIVALS[rival],
        isStepped: true,
        values: [{ x: 0, y: 0 }, ...connected.map((ms, i) => ({ x: ms / 1_000, y: i + 1 })), { x: until, y: connected.length }]
      }))
    }]
  }
}
