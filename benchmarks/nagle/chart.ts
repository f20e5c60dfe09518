import { whole } from '../../test/lab/report/numbers.ts'
import { ACCENT, MUTED, TEXT } from '../report/palette.ts'
import { arrowIn, sequencePanel, xOf } from '../report/sequence-chart.ts'
import { findingOf, sizesText, typicalRun } from './findings.ts'
import { moments } from './moments.ts'
import type { CaseFindings } from './findings.ts'
import type { NagleLink, NagleReport, NagleRun } from './report.ts'
import type { Segment, Side } from './segments.ts'
import type { Arrow, Frame } from '../report/sequence-chart.ts'
import type { TopLevelSpec } from 'vega-lite'

const PANELS = [
  { id: 'ours-nagle', title: 'Nagle on' },
  { id: 'ours-nodelay', title: 'Nagle off (TCP_NODELAY)' }
]

/** Moments that are less than this share of the height apart are told as one */
const NEAR = 1 / 16

/** How far along its arrow a label stands: where arrows of the two sides cross least */
const LABEL_AT = { sender: 0.4, receiver: 0.8 }

/** One connection with Nagle's algorithm beside one without, for each link */
export function nagleChart (report: NagleReport): TopLevelSpec {
  const title = `${report.messages} one-byte writes, ${report.spacing} ms apart`

  return {
    title: { text: title, subtitle: ['Blue: data segments, grey: their ACKs, as captured at both ends. Dots: a write, or bytes handed to the receiver\'s program.'] },
    description: title,
    spacing: 30,
    vconcat: report.links.map(link => {
      const runs = PANELS.map(({ id }) => typicalRun(link, id))
      const until = 1.04 * Math.max(...runs.flatMap(({ segments, arrivals }) => [...arrivals, ...segments.map(({ sent, received = sent }) => received)]))
      // the panels of a row share their time
      const frame: Frame<Side> = { sides: ['sender', 'receiver'], gap: 190, margin: 118, height: 320, until }

      return { spacing: 10, hconcat: PANELS.map(({ id, title }, index) => panel(frame, link, findingOf(link, report.cases, id), title, runs[index], index === 0)) }
    })
  } as TopLevelSpec
}

function panel (frame: Frame<Side>, link: NagleLink, { sizes }: CaseFindings, title: string, { segments, writes, arrivals }: NagleRun, isFirst: boolean): object {
  const data = arrowsOf(frame, segments, 'sender')
  const acks = arrowsOf(frame, segments, 'receiver')

  return sequencePanel(frame, {
    title: {
      text: `${whole(link.roundTrip)} ms round trip, ${title}`,
      subtitle: `segments of ${sizesText(sizes)} B; all there after ${whole(arrivals.at(-1) ?? NaN)} ms`
    },
    axis: isFirst ? 'time since the first write (ms)' : undefined,
    lines: [{ strokeWidth: 1, arrows: acks }, { strokeWidth: 1.7, arrows: data }],
    labels: [...data, ...acks].filter(({ label }) => label !== ''),
    dots: {
      size: 26,
      at: [...writes.map(time => ({ side: 'sender' as const, time })), ...arrivals.map(time => ({ side: 'receiver' as const, time }))]
    },
    notes: [notes(frame, writes, 'write', 'sender'), notes(frame, arrivals, 'byte', 'receiver')]
  })
}

/** What a program did, beside its lifeline */
function notes (frame: Frame<Side>, times: number[], what: string, side: Side): object {
  const values = moments(times, frame.until * NEAR).map(({ count, middle, text }) => ({ x: xOf(frame, side), y: middle, lines: `${what}${count === 1 ? '' : 's'} ${text}`.split('\n') }))
  const [align, dx] = side === 'sender' ? ['right', -10] : ['left', 10]

  return {
    data: { values },
    mark: { type: 'text', align, dx, baseline: 'line-top', dy: -13, fontSize: 11, lineHeight: 13, color: TEXT },
    encoding: { text: { field: 'lines' } }
  }
}

/** The label of several that are near each other is that of the first */
function arrowsOf (frame: Frame<Side>, segments: Segment[], from: Side): Array<Arrow & { label: string }> {
  const drawn = segments.filter((segment): segment is Segment & { received: number } => segment.from === from && segment.received != null)
  const groups = moments(drawn.map(({ sent }) => sent), frame.until * NEAR)

  return drawn.map((segment, index) => {
    const count = groups.find(({ first }) => first === index)?.count ?? 0
    const each = from === 'sender' ? `${segment.bytes} B` : 'ACK'
    const label = count > 1 ? `${count} × ${each}` : each

    return { ...arrowIn(frame, segment, from === 'sender' ? ACCENT : MUTED, LABEL_AT[from]), label: count === 0 ? '' : label }
  })
}
