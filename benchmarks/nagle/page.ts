import { NAMES } from '../../test/lab/peers/names.ts'
import { whole } from '../../test/lab/report/numbers.ts'
import { markdownTable, tableOf } from '../../test/lab/report/table.ts'
import { ACCENT, LINE, MUTED, TEXT } from '../report/palette.ts'
import { medianTable } from '../report/tables.ts'
import type { CapturedRun, NagleReport } from './measure.ts'
import type { Segment } from './segments.ts'
import type { Chart, Mark, Panel } from '../report/chart.ts'
import type { Results } from '../report/results.ts'

const CHARTED = ['Nagle on', 'Nagle off']

export function naglePage (report: NagleReport): Results<NagleReport> {
  const { links, messages, runs, series, spacing } = report

  return {
    report,
    title: `${messages} one-byte writes, with and without Nagle's algorithm`,
    about: `Raw TCP connections, without security or muxer. Writes are ${spacing} ms apart, so that no two share a tick of the event loop, or all in one tick. tcpdump captures the segments at both ends. Times count from the first write to when the receiver's program gets the bytes. @libp2p/tcp sets TCP_NODELAY even where \`dialOpts.noDelay\` is false.`,
    sections: links.flatMap(({ group, title }) => [
      {
        title: `${group}, over ${title}`,
        table: medianTable(series, group, [
          { title: 'segments', metric: 'segments' },
          { title: 'first byte, ms', metric: 'first byte' },
          { title: 'last byte, ms', metric: 'last byte', spread: true },
          { title: 'round trips', metric: 'round trips' },
          { title: 'after the first', metric: 'after the first' },
          { title: 'retransmissions', metric: 'retransmissions' }
        ])
      },
      {
        title: `${group}: the packets of one run of each`,
        table: markdownTable(tableOf(typicalRuns(runs, group), [
          ['case', ({ row }) => row, 'left'],
          ['rival', ({ rival }) => NAMES[rival], 'left'],
          ['data segments and when they left', ({ segments }) => segments.filter(({ bytes }) => bytes > 0).map(({ bytes, sent }) => `${bytes} B ${whole(sent)} ms`).join(', '), 'left'],
          ['ACKs', ({ segments }) => segments.filter(({ bytes }) => bytes === 0).map(({ sent }) => `${whole(sent)} ms`).join(', '), 'left']
        ]))
      }
    ]),
    charts: { nagle: nagleChart(report) }
  }
}

/** Of each case and stack the run whose last byte came neither first nor last */
function typicalRuns (runs: CapturedRun[], group: string): CapturedRun[] {
  const cases = Map.groupBy(runs.filter(run => run.group === group), ({ row, rival }) => `${row} ${rival}`)

  return [...cases.values()]
    .map(alike => alike.toSorted((a, b) => (a.arrivals.at(-1) ?? 0) - (b.arrivals.at(-1) ?? 0))[Math.floor(alike.length / 2)])
    .toSorted((a, b) => `${a.row} ${a.rival}`.localeCompare(`${b.row} ${b.rival}`))
}

/** A connection of ours with Nagle's algorithm beside one without, for each link: time runs down, segments go across */
function nagleChart ({ links, messages, runs, spacing }: NagleReport): Chart {
  return {
    title: `${messages} one-byte writes, ${spacing} ms apart`,
    subtitle: ['Blue: data segments, grey: their ACKs, as captured at both ends. Dots: a write, or bytes handed to the receiver\'s program.'],
    columns: CHARTED.length,
    panels: links.flatMap(({ group }) => {
      const shown = CHARTED.flatMap(row => typicalRuns(runs, group).filter(run => run.row === row && run.rival === 'ours'))
      // the panels of a link share their time
      const until = 1.04 * Math.max(...shown.flatMap(({ arrivals, segments }) => [...arrivals, ...segments.map(({ sent, received = sent }) => received)]))

      return shown.map(run => sequencePanel(run, until))
    })
  }
}

/** Left and right of the lifelines there is room for notes */
const SENDER = 0
const RECEIVER = 1

function sequencePanel ({ group, row, segments, writes, arrivals }: CapturedRun, until: number): Panel {
  const data = segments.filter(({ bytes }) => bytes > 0)
  const acks = segments.filter(({ bytes }) => bytes === 0)
  const lifeline = (x: number): Mark => ({ type: 'rule', colour: LINE, values: [{ x, x2: x + 0.0001, y: 0, y2: until }] })
  const dots = (x: number, times: number[]): Mark => ({ type: 'point', colour: TEXT, values: times.map(y => ({ x, y })) })

  return {
    title: `${group}, ${row}`,
    subtitle: `${data.length} segments; all bytes are there after ${whole(arrivals.at(-1) ?? NaN)} ms`,
    width: 400,
    height: 320,
    x: { domain: [-0.7, 1.7], isHidden: true },
    y: { title: 'ms since the first write', domain: [0, until], isReversed: true },
    marks: [
      lifeline(SENDER),
      lifeline(RECEIVER),
      arrows(acks, MUTED, 1),
      arrows(data, ACCENT, 1.7),
      dots(SENDER, writes),
      dots(RECEIVER, arrivals),
      notes(writes, until, 'write', SENDER),
      notes(arrivals, until, 'byte', RECEIVER)
    ]
  }
}

function arrows (segments: Segment[], colour: string, size: number): Mark {
  return {
    type: 'rule',
    colour,
    size,
    values: segments.flatMap(({ from, sent, received }) => received == null ? [] : [{ x: from === 'sender' ? SENDER : RECEIVER, x2: from === 'sender' ? RECEIVER : SENDER, y: sent, y2: received }])
  }
}

/** Moments that are less than this share of the height apart are told as one */
const NEAR = 1 / 16

function notes (times: number[], until: number, what: string, x: number): Mark {
  const groups: number[][] = []

  for (const time of times) {
    const last = groups.at(-1)

    if (last != null && time - (last.at(-1) ?? NaN) < until * NEAR) {
      last.push(time)
    } else {
      groups.push([time])
    }
  }

  return {
    type: 'text',
    colour: TEXT,
    align: x === SENDER ? 'right' : 'left',
    dx: x === SENDER ? -10 : 10,
    values: groups.map(group => ({
      x,
      y: (group[0] + (group.at(-1) ?? 0)) / 2,
      text: `${group.length} ${what}${group.length === 1 ? '' : 's'}, ${[...new Set([group[0], group.at(-1) ?? 0].map(whole))].join('–')} ms`
    }))
  }
}
