import { NAMES } from '../../test/lab/peers/names.ts'
import { ratioPanel } from '../report/chart.ts'
import { RIVALS } from '../report/palette.ts'
import { medianTable, ratioTable } from '../report/tables.ts'
import { namesOf, ratioOf } from '../series.ts'
import { rows } from './rows/registry.ts'
import type { Measuring } from './measure.ts'
import type { BarGroup, Chart } from '../report/chart.ts'
import type { Results } from '../report/results.ts'
import type { Report } from '../series.ts'

export const STREAM = 'stream'
export const CONNECTION = 'connection'

const TITLES = Object.fromEntries(rows.map(({ name, title }) => [name, title]))

const GROUPS: Record<string, { title: string, bases: string[] }> = {
  [CONNECTION]: { title: 'Connections without encryption', bases: ['net', 'official'] },
  [STREAM]: { title: 'Streams over Noise and yamux', bases: ['official'] }
}

export function throughputPage (report: Report, measuring?: Measuring): Results {
  const { series } = report
  const groups = namesOf(series, 'group')
  const how = measuring == null ? '' : ` Each sample is of two new processes, ${measuring.pinned ? 'each on a core of its own' : 'wherever the scheduler puts them'}, which have worked for ${measuring.warmUp} ms and are measured for ${measuring.target}.`

  return {
    report,
    title: 'Throughput',
    about: `Over loopback.${how} CPU is the processor time of both ends together. Ratios are made round by round and then their median is taken; below 1 is less. ~: the rounds do not agree which is less.`,
    sections: groups.flatMap(group => [
      ...GROUPS[group].bases.filter(base => series.some(({ group: of, rival }) => of === group && rival === base)).map(base => ({
        title: `${GROUPS[group].title}, to ${NAMES[base]}`,
        table: ratioTable(series, group, ['CPU', 'time'], base, TITLES)
      })),
      {
        title: GROUPS[group].title,
        table: medianTable(series.filter(({ metric }) => ['CPU', 'time', 'loop p99'].includes(metric)), group, [
          { title: 'CPU, us', metric: 'CPU', spread: true },
          { title: 'time, us', metric: 'time', spread: true },
          { title: 'loop p99, ms', metric: 'loop p99', spread: true }
        ], TITLES)
      },
      ...series.some(({ group: of, metric }) => of === group && metric === 'dialer')
        ? [{
            title: `${GROUPS[group].title}: memory, in bytes`,
            table: medianTable(series.filter(({ metric }) => ['dialer', 'listener'].includes(metric)), group, [
              { title: 'dialer', metric: 'dialer', spread: true },
              { title: 'listener', metric: 'listener', spread: true }
            ], TITLES)
          }]
        : []
    ]),
    // rows of memory have ratios of nothing
    charts: namesOf(series, 'rival', { group: STREAM, metric: 'CPU' }).length > 1 ? { throughput: ratioChart(report) } : {}
  }
}

/** What our streams take, beside those of the official transport */
function ratioChart ({ series }: Report): Chart {
  const rivals = namesOf(series, 'rival', { group: STREAM }).filter(rival => rival !== 'official')
  const groupsOf = (metric: string): BarGroup[] => namesOf(series, 'row', { group: STREAM }).map(row => ({
    name: TITLES[row] ?? row,
    bars: rivals.flatMap(rival => {
      const comparison = ratioOf(series, { group: STREAM, row, rival, metric }, { rival: 'official' })

      return comparison == null ? [] : [{ colour: RIVALS[rival], value: comparison.ratio, ...comparison }]
    })
  })).filter(({ bars }) => bars.length > 0)

  return {
    title: 'Streams over Noise and yamux, to those of @libp2p/tcp',
    subtitle: ['Medians of ratios by round, and their 10th to 90th percentile; to the left of 1 is less.'],
    legend: rivals.map(rival => ({ name: NAMES[rival] ?? rival, colour: RIVALS[rival] })),
    panels: [['CPU', 'processor time of both ends'], ['time', 'time']].map(([metric, title]) => ratioPanel(title, groupsOf(metric)))
  }
}
