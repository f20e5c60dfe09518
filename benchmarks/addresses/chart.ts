import { NAMES } from '../../test/lab/peers/names.ts'
import { legend } from '../report/legend.ts'
import { RIVALS } from '../report/palette.ts'
import type { AddressesReport } from './report.ts'
import type { TopLevelSpec } from 'vega-lite'

/** How many peers a crawl has connected to, over time */
export function crawlChart ({ crawl }: AddressesReport): TopLevelSpec {
  const { rows, peers } = crawl
  const until = Math.max(...rows.map(({ lasted }) => lasted))
  const points = rows.flatMap(({ stack, connected }) => [
    { name: NAMES[stack], s: 0, peers: 0 },
    ...connected.map((ms, i) => ({ name: NAMES[stack], s: ms / 1_000, peers: i + 1 })),
    { name: NAMES[stack], s: until / 1_000, peers: connected.length }
  ])
  const title = `A crawl of ${peers} peers, ${Math.round(crawl.dead * 100)} % of whose addresses are silent`
  const names = rows.map(({ stack }) => NAMES[stack])

  return {
    title: { text: title, subtitle: [`Peers connected, over time. ${rows[0].reachable} have a live address; a dial that fails is made again.`] },
    description: title,
    spacing: 16,
    vconcat: [
      legend(rows.map(({ stack }) => ({ name: NAMES[stack], colour: RIVALS[stack] }))),
      {
        width: 640,
        height: 260,
        data: { values: points },
        mark: { type: 'line', interpolate: 'step-after', strokeWidth: 2 },
        encoding: {
          x: { field: 's', type: 'quantitative', title: 'seconds since the first dial' },
          y: { field: 'peers', type: 'quantitative', title: 'peers connected' },
          color: { field: 'name', type: 'nominal', legend: null, scale: { domain: names, range: rows.map(({ stack }) => RIVALS[stack]) } }
        }
      }
    ]
  } as unknown as TopLevelSpec
}
