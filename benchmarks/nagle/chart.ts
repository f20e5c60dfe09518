import { whole } from '../report/numbers.ts'
import { sequenceChart } from '../report/sequence-chart.ts'
import { findings, sizesText, typicalRun } from './findings.ts'
import { moments } from './moments.ts'
import type { NagleRun } from './measure.ts'
import type { NagleLink, NagleReport } from './report.ts'
import type { Segment } from './segments.ts'
import type { SequenceArrow, SequencePanel, Side } from '../report/sequence-chart.ts'
import type { TopLevelSpec } from 'vega-lite'

const PANELS = [
  { id: 'ours-nagle', title: 'Nagle on' },
  { id: 'ours-nodelay', title: 'Nagle off (TCP_NODELAY)' }
]

/**
 * The share of a panel's height that moments must be apart to be told apart.
 */
const NEAR = 1 / 16

/**
 * One connection with Nagle's algorithm beside one without, for each link.
 */
export function nagleChart (report: NagleReport): TopLevelSpec {
  return sequenceChart({
    title: `${report.messages} one-byte writes, ${report.spacing} ms apart`,
    subtitle: ['Blue: data segments, grey: their ACKs, as captured at both ends. Dots: a write, or bytes handed to the receiver\'s program.'],
    rows: report.links.map(link => {
      const runs = PANELS.map(({ id }) => typicalRun(link, id))
      const until = 1.04 * Math.max(...runs.flatMap(lastMoments))

      return {
        until,
        panels: PANELS.map(({ id, title }, index) => panel(link, report, id, title, runs[index], until))
      }
    })
  })
}

function panel (link: NagleLink, report: NagleReport, id: string, title: string, run: NagleRun, until: number): SequencePanel {
  const [found] = findings(link, report.cases.filter(of => of.id === id))
  const near = until * NEAR

  return {
    title: `${whole(link.roundTrip)} ms round trip, ${title}`,
    subtitle: `segments of ${sizesText(found.sizes)} B; all there after ${whole(run.arrivals.at(-1) ?? NaN)} ms`,
    arrows: arrows(run.segments, near),
    dots: [
      ...run.writes.map(time => ({ at: 'sender' as const, time })),
      ...run.arrivals.map(time => ({ at: 'receiver' as const, time }))
    ],
    notes: [
      ...moments(run.writes, near).map(({ count, middle, text }) => ({ at: 'sender' as const, time: middle, text: `${count === 1 ? 'write' : 'writes'} ${text}` })),
      ...moments(run.arrivals, near).map(({ count, middle, text }) => ({ at: 'receiver' as const, time: middle, text: `${count === 1 ? 'byte' : 'bytes'} ${text}` }))
    ]
  }
}

/**
 * The first of several that are near each other speaks for them all.
 */
function arrows (segments: Segment[], near: number): SequenceArrow[] {
  return (['sender', 'receiver'] as const).flatMap(from => {
    const drawn = segments.filter((segment): segment is Segment & { received: number } => segment.from === from && segment.received != null)
    const groups = moments(drawn.map(({ sent }) => sent), near)

    return drawn.map(({ sent, received, bytes }, index) => {
      const group = groups.find(({ first }) => first === index)

      return {
        from,
        kind: from === 'sender' ? 'data' : 'ack',
        sent,
        received,
        label: group == null ? undefined : label(from, group.count, bytes)
      }
    })
  })
}

function label (from: Side, count: number, bytes: number): string {
  const each = from === 'sender' ? `${bytes} B` : 'ACK'

  return count === 1 ? each : `${count} × ${each}`
}

function lastMoments ({ segments, arrivals }: NagleRun): number[] {
  return [...arrivals, ...segments.map(({ sent, received = sent }) => received)]
}
