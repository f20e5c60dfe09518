import { whole } from '../report/numbers.ts'
import { ACCENT, LINE, MUTED, TEXT } from '../report/palette.ts'
import { findings, sizesText, typicalRun } from './findings.ts'
import { moments } from './moments.ts'
import type { NagleRun } from './measure.ts'
import type { NagleLink, NagleReport } from './report.ts'
import type { Segment, Side } from './segments.ts'
import type { TopLevelSpec } from 'vega-lite'

const PANELS = [
  { id: 'ours-nagle', title: 'Nagle on' },
  { id: 'ours-nodelay', title: 'Nagle off (TCP_NODELAY)' }
]

/**
 * The share of a panel's height that moments must be apart to be told apart.
 */
const NEAR = 1 / 16

const GAP = 190
const MARGIN = 118
const WIDTH = GAP + 2 * MARGIN
const HEIGHT = 320
const HEAD = 10

/**
 * In a box from -1 to 1, pointing up
 */
const HEAD_SHAPE = 'M0,-1L0.62,1L0,0.6L-0.62,1Z'

/**
 * How far along its arrow a label stands: where arrows of the two sides cross least
 */
const LABEL_AT = { sender: 0.4, receiver: 0.8 }

const X: Record<Side, number> = { sender: MARGIN, receiver: MARGIN + GAP }
const SIDES: Side[] = ['sender', 'receiver']

/**
 * One connection with Nagle's algorithm beside one without, for each link, as
 * textbooks draw them: time runs down, each segment is an arrow from one lifeline to
 * the other, aslant because it takes time.
 */
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
      return { spacing: 10, hconcat: PANELS.map(({ id, title }, index) => panel(link, report, id, title, runs[index], until, index === 0)) }
    })
  } as TopLevelSpec
}

function panel (link: NagleLink, report: NagleReport, id: string, title: string, run: NagleRun, until: number, isFirst: boolean): object {
  const [{ sizes }] = findings(link, report.cases.filter(of => of.id === id))
  const arrows = arrowsOf(run.segments, until)
  const colour = { field: 'colour', type: 'nominal', scale: null }

  return {
    title: {
      text: `${whole(link.roundTrip)} ms round trip, ${title}`,
      subtitle: `segments of ${sizesText(sizes)} B; all there after ${whole(run.arrivals.at(-1) ?? NaN)} ms`,
      fontSize: 13,
      offset: 30,
      frame: 'group'
    },
    width: WIDTH,
    height: HEIGHT,
    encoding: {
      x: { field: 'x', type: 'quantitative', scale: { domain: [0, WIDTH], nice: false }, axis: null },
      y: {
        field: 'y',
        type: 'quantitative',
        title: isFirst ? 'time since the first write (ms)' : null,
        scale: { domain: [0, until], reverse: true, nice: false },
        axis: { tickCount: 6, domain: false, labels: isFirst, ticks: isFirst }
      }
    },
    layer: [
      {
        data: { values: SIDES.map(side => ({ x: X[side], y: 0, y2: until })) },
        mark: { type: 'rule', color: LINE, strokeWidth: 2 },
        encoding: { y2: { field: 'y2' } }
      },
      {
        data: { values: SIDES.map(text => ({ x: X[text], y: 0, text })) },
        mark: { type: 'text', dy: -18, fontWeight: 'bold', color: TEXT },
        encoding: { text: { field: 'text' } }
      },
      // data lies above its ACKs
      ...SIDES.toReversed().map(side => ({
        data: { values: arrows.filter(({ from }) => from === side) },
        mark: { type: 'rule', strokeWidth: side === 'sender' ? 1.7 : 1 },
        encoding: { x2: { field: 'x2' }, y2: { field: 'y2' }, color: colour }
      })),
      {
        data: { values: arrows.map(arrow => ({ ...arrow, ...arrow.head })) },
        mark: { type: 'point', shape: HEAD_SHAPE, filled: true, size: HEAD ** 2, opacity: 1 },
        encoding: { color: colour, angle: { field: 'headAngle', type: 'quantitative', scale: null } }
      },
      {
        data: { values: [...run.writes.map(y => ({ x: X.sender, y })), ...run.arrivals.map(y => ({ x: X.receiver, y }))] },
        mark: { type: 'point', filled: true, size: 26, color: TEXT, opacity: 1 }
      },
      ...arrows.filter(({ label }) => label != null).map(({ label, labelled, textAngle, colour }) => ({
        data: { values: [{ ...labelled, label }] },
        // vega-lite takes the angle of a text from its mark alone
        mark: { type: 'text', angle: textAngle, baseline: 'bottom', dy: -4, color: colour, fontSize: 12 },
        encoding: { text: { field: 'label' } }
      })),
      notes(run.writes, 'write', 'sender', until),
      notes(run.arrivals, 'byte', 'receiver', until)
    ]
  }
}

/**
 * What a program did, beside its lifeline.
 */
function notes (times: number[], what: string, side: Side, until: number): object {
  const values = moments(times, until * NEAR).map(({ count, middle, text }) => ({ x: X[side], y: middle, lines: `${what}${count === 1 ? '' : 's'} ${text}`.split('\n') }))
  const [align, dx] = side === 'sender' ? ['right', -10] : ['left', 10]

  return {
    data: { values },
    mark: { type: 'text', align, dx, baseline: 'line-top', dy: -13, fontSize: 11, lineHeight: 13, color: TEXT },
    encoding: { text: { field: 'lines' } }
  }
}

interface Place {
  x: number
  y: number
}

/**
 * x in pixels, y in milliseconds, angles as they look
 */
interface Arrow extends Place {
  from: Side
  x2: number
  y2: number
  colour: string
  head: Place
  headAngle: number
  label?: string
  labelled: Place
  textAngle: number
}

/**
 * The first of several that are near each other speaks for them all.
 */
function arrowsOf (segments: Segment[], until: number): Arrow[] {
  return SIDES.flatMap(from => {
    const drawn = segments.filter((segment): segment is Segment & { received: number } => segment.from === from && segment.received != null)
    const groups = moments(drawn.map(({ sent }) => sent), until * NEAR)

    return drawn.map(({ sent, received, bytes }, index) => {
      const group = groups.find(({ first }) => first === index)

      return { ...arrow(from, sent, received, until), label: group == null ? undefined : labelOf(from, group.count, bytes) }
    })
  })
}

function labelOf (from: Side, count: number, bytes: number): string {
  const each = from === 'sender' ? `${bytes} B` : 'ACK'

  return count === 1 ? each : `${count} × ${each}`
}

function arrow (from: Side, sent: number, received: number, until: number): Arrow {
  const x = X[from]
  const x2 = X[from === 'sender' ? 'receiver' : 'sender']
  const right = x2 - x
  const below = (received - sent) * HEIGHT / until
  const along = (share: number): Place => ({ x: x + right * share, y: sent + (received - sent) * share })

  return {
    from,
    colour: from === 'sender' ? ACCENT : MUTED,
    x,
    y: sent,
    x2,
    y2: received,
    // the tip touches the lifeline, the head is drawn about its middle
    head: along(1 - HEAD / 2 / Math.hypot(right, below)),
    headAngle: degrees(Math.atan2(right, -below)),
    labelled: along(LABEL_AT[from]),
    // never upside down
    textAngle: degrees(right > 0 ? Math.atan2(below, right) : Math.atan2(-below, -right))
  }
}

function degrees (radians: number): number {
  return radians * 180 / Math.PI
}
