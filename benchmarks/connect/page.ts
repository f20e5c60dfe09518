import { NAMES } from '../../test/lab/peers/names.ts'
import { ms, trips } from '../../test/lab/report/numbers.ts'
import { markdownTable, tableOf } from '../../test/lab/report/table.ts'
import { summarise } from '../../test/lab/statistics.ts'
import { SERIES, TEXT } from '../report/palette.ts'
import { marked } from '../report/tables.ts'
import { medianOf, namesOf, ratioOf, samplesOf } from '../series.ts'
import type { ConnectReport, MeasuredLink } from './measure.ts'
import type { ColumnOf } from '../../test/lab/report/table.ts'
import type { Chart, Mark, Panel } from '../report/chart.ts'
import type { Results } from '../report/results.ts'

/** Below this many milliseconds a round trip is programs at work. */
const SHORTEST_ROUND_TRIP = 5

const STEPS = { TCP: 'TCP connection', security: 'security', muxer: 'muxer', stream: 'stream', byte: 'first byte' }

export function connectPage (report: ConnectReport): Results<ConnectReport> {
  return {
    report,
    title: 'From a dial to the first byte that is echoed',
    about: 'In ms, medians; closing is not in the total. A dash: go and rust cannot tell the steps of a dial apart. ~: the rounds do not agree which is less.',
    sections: report.links.flatMap(link => [
      {
        title: `Over ${link.title}`,
        text: [
          `One round trip takes ${ms(link.roundTrip)} ms.`,
          ...link.hidden > 0 ? [`This link hides ${link.hidden} round trip, that of the SYN: round trips and ratios count it, milliseconds do not.`] : [],
          ...link.passedOver.map(reason => `Not ${reason}.`)
        ].join(' '),
        table: summaryTable(report, link)
      },
      {
        title: `Every run over ${link.group}: TCP connection / handshake / total`,
        table: runTable(report, link)
      }
    ]),
    charts: { connect: connectChart(report) }
  }
}

function summaryTable ({ series }: ConnectReport, { group, roundTrip }: MeasuredLink): string {
  const of = (rival: string, metric: string): number[] => samplesOf(series, { group, row: 'dial', rival, metric })
  const median = (rival: string, metric: string): string => ms(summarise(of(rival, metric)).median)

  return markdownTable(tableOf(namesOf(series, 'rival', { group }), [
    ['stack', rival => NAMES[rival], 'left'],
    ...['TCP', 'handshake', 'stream', 'byte', 'total'].map((metric): ColumnOf<string> => [metric, rival => median(rival, metric)]),
    ['p10-p90', rival => {
      const { p10, p90 } = summarise(of(rival, 'total'))

      return `${ms(p10)}-${ms(p90)}`
    }],
    ...roundTrip < SHORTEST_ROUND_TRIP ? [] : [['round trips', rival => trips(summarise(of(rival, 'round trips')).median)] satisfies ColumnOf<string>],
    ['to official', rival => rival === 'official' ? '1.00' : marked(ratioOf(series, { group, row: 'dial', rival, metric: 'round trips' }, { rival: 'official' }))],
    ['close', rival => median(rival, 'close')],
    ['runs', rival => `${of(rival, 'total').length}`]
  ]))
}

function runTable ({ series }: ConnectReport, { group }: MeasuredLink): string {
  const rivals = namesOf(series, 'rival', { group })
  const runs = Math.max(...series.map(({ samples }) => samples.length))
  const cell = (rival: string, run: number): string => ['TCP', 'handshake', 'total']
    .map(metric => ms(series.find(one => one.group === group && one.rival === rival && one.metric === metric)?.samples[run] ?? NaN)).join(' / ')

  return markdownTable(tableOf(Array.from({ length: runs }, (_, run) => run), [
    ['run', run => `${run + 1}`],
    ...rivals.map((rival): ColumnOf<number> => [NAMES[rival], run => cell(rival, run)])
  ]))
}

const STEP = 30

/** Where the time to the first byte goes, a bar per rival, a panel per link */
function connectChart (report: ConnectReport): Chart {
  return {
    title: 'From a dial to the first byte that is echoed',
    subtitle: ['Medians of the whole, divided as the medians of the steps are; the line below is their 10th to 90th percentile.', 'Where steps cannot be told apart, the bar is grey.'],
    legend: Object.values(STEPS).map((name, i) => ({ name, colour: SERIES[i] })),
    panels: report.links.map(link => panel(report, link))
  }
}

function panel ({ series }: ConnectReport, { group, roundTrip }: MeasuredLink): Panel {
  const rivals = namesOf(series, 'rival', { group })
  const summaries = rivals.map(rival => ({ y: NAMES[rival], rival, ...summarise(samplesOf(series, { group, row: 'dial', rival, metric: 'total' })) }))

  return {
    title: group,
    width: 420,
    height: rivals.length * STEP,
    x: { title: 'time to the first byte (ms)' },
    y: { isNominal: true },
    marks: [
      { type: 'bar', colour: TEXT, size: 15, dy: -3, values: summaries.map(({ y, median }) => ({ y, x: 0, x2: median })) },
      ...summaries.flatMap(({ y, rival, median }): Mark[] => {
        const steps = Object.keys(STEPS).map(metric => medianOf(series, { group, row: 'dial', rival, metric }))
        const sum = steps.reduce((sum, step) => sum + step, 0)
        // the median of a sum is not the sum of medians
        const upTo = (count: number): number => steps.slice(0, count).reduce((sum, step) => sum + step, 0) / sum * median

        return Number.isNaN(sum) ? [] : steps.map((_, i) => ({ type: 'bar', colour: SERIES[i], size: 15, dy: -3, values: [{ y, x: upTo(i), x2: upTo(i + 1) }] }))
      }),
      { type: 'rule', colour: TEXT, dy: 9, values: summaries.map(({ y, p10, p90 }) => ({ y, x: p10, x2: p90 })) },
      {
        type: 'text',
        colour: TEXT,
        dx: 8,
        dy: -3,
        values: summaries.map(({ y, rival, median, p90 }) => ({
          y,
          x: Math.max(median, p90),
          text: `${ms(median)} ms${roundTrip < SHORTEST_ROUND_TRIP ? '' : `, ${trips(medianOf(series, { group, row: 'dial', rival, metric: 'round trips' }))} round trips`}`
        }))
      }
    ]
  }
}
