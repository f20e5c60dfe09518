import { ACCENT, LINE, MUTED, TEXT } from './palette.ts'
import type { TopLevelSpec } from 'vega-lite'

export type Side = 'sender' | 'receiver'

/**
 * One segment on its way. Times are in milliseconds.
 */
export interface SequenceArrow {
  from: Side
  kind: 'data' | 'ack'
  sent: number
  received: number

  /**
   * Written along the arrow.
   */
  label?: string
}

/**
 * Something that happened at one side, at its lifeline
 */
export interface SequenceMoment {
  at: Side
  time: number
}

export interface SequencePanel {
  title: string
  subtitle?: string
  arrows: SequenceArrow[]

  /**
   * Dots on a lifeline: what the programs did.
   */
  dots: SequenceMoment[]

  /**
   * Text beside a lifeline.
   */
  notes: Array<SequenceMoment & { text: string }>
}

export interface SequenceChart {
  title: string
  subtitle?: string[]

  /**
   * The panels of a row stand side by side and share their time.
   */
  rows: Array<{ until: number, panels: SequencePanel[] }>
}

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
 * How far along its arrow a label stands: where arrows of the two kinds cross
 * least
 */
const LABEL_AT = { data: 0.4, ack: 0.8 }

const X: Record<Side, number> = { sender: MARGIN, receiver: MARGIN + GAP }

/**
 * The drawing of the textbooks: time runs down, each segment is an arrow from
 * one lifeline to the other, aslant because it takes time.
 */
export function sequenceChart ({ title, subtitle, rows }: SequenceChart): TopLevelSpec {
  return {
    title: { text: title, subtitle },
    description: title,
    spacing: 30,
    vconcat: rows.map(({ until, panels }) => ({
      spacing: 10,
      hconcat: panels.map((panel, index) => sequencePanel(panel, until, index === 0))
    }))
  } as TopLevelSpec
}

function sequencePanel ({ title, subtitle, arrows, dots, notes }: SequencePanel, until: number, isFirst: boolean): object {
  const down = HEIGHT / until
  const drawn = arrows.map(arrow => pixels(arrow, down))
  const x = { field: 'x', type: 'quantitative', scale: { domain: [0, WIDTH], nice: false }, axis: null }
  const y = {
    field: 'y',
    type: 'quantitative',
    title: isFirst ? 'time since the first write (ms)' : null,
    scale: { domain: [0, until], reverse: true, nice: false },
    axis: isFirst ? { tickCount: 6, domain: false } : { tickCount: 6, domain: false, labels: false, ticks: false }
  }
  const colour = { field: 'colour', type: 'nominal', scale: null }
  const angle = { field: 'angle', type: 'quantitative', scale: null }
  const ends = { x2: { field: 'x2' }, y2: { field: 'y2' } }

  return {
    title: { text: title, subtitle, fontSize: 13, offset: 30, frame: 'group' },
    width: WIDTH,
    height: HEIGHT,
    encoding: { x, y },
    layer: [
      {
        data: { values: Object.values(X).map(x => ({ x, y: 0, y2: until })) },
        mark: { type: 'rule', color: LINE, strokeWidth: 2 },
        encoding: { y2: { field: 'y2' } }
      },
      {
        data: { values: Object.entries(X).map(([text, x]) => ({ x, y: 0, text })) },
        mark: { type: 'text', dy: -18, fontWeight: 'bold', color: TEXT },
        encoding: { text: { field: 'text' } }
      },
      ...(['ack', 'data'] as const).map(kind => ({
        data: { values: drawn.filter(arrow => arrow.kind === kind) },
        mark: { type: 'rule', strokeWidth: kind === 'data' ? 1.7 : 1 },
        encoding: { ...ends, color: colour }
      })),
      {
        data: { values: drawn.map(arrow => ({ ...arrow, x: arrow.head.x, y: arrow.head.y })) },
        mark: { type: 'point', shape: HEAD_SHAPE, filled: true, size: HEAD ** 2, opacity: 1 },
        encoding: { color: colour, angle: { ...angle, field: 'headAngle' } }
      },
      {
        data: { values: dots.map(({ at, time }) => ({ x: X[at], y: time })) },
        mark: { type: 'point', filled: true, size: 26, color: TEXT, opacity: 1 }
      },
      ...drawn.filter(({ label }) => label != null).map(arrow => ({
        data: { values: [{ x: arrow.at.x, y: arrow.at.y, text: arrow.label }] },
        // vega-lite takes the angle of a text from its mark alone
        mark: { type: 'text', angle: arrow.textAngle, baseline: 'bottom', dy: -4, color: arrow.colour, fontSize: 12 },
        encoding: { text: { field: 'text' } }
      })),
      ...(['sender', 'receiver'] as const).map(side => ({
        data: { values: notes.filter(({ at }) => at === side).map(({ time, text }) => ({ x: X[side], y: time, lines: text.split('\n') })) },
        mark: { type: 'text', align: side === 'sender' ? 'right' : 'left', dx: side === 'sender' ? -10 : 10, baseline: 'line-top', dy: -13, fontSize: 11, lineHeight: 13, color: TEXT },
        encoding: { text: { field: 'lines' } }
      }))
    ]
  }
}

/**
 * Where an arrow is drawn: x in pixels, y in milliseconds, angles as they look.
 */
function pixels ({ from, kind, sent, received, label }: SequenceArrow, down: number): any {
  const x = X[from]
  const x2 = X[from === 'sender' ? 'receiver' : 'sender']
  const right = x2 - x
  const below = (received - sent) * down
  const length = Math.hypot(right, below)
  // the tip touches the lifeline, the head is drawn about its middle
  const short = 1 - HEAD / 2 / length

  return {
    kind,
    label,
    colour: kind === 'data' ? ACCENT : MUTED,
    x,
    y: sent,
    x2,
    y2: received,
    head: { x: x + right * short, y: sent + (received - sent) * short },
    headAngle: degrees(Math.atan2(right, -below)),
    at: { x: x + right * LABEL_AT[kind], y: sent + (received - sent) * LABEL_AT[kind] },
    // never upside down
    textAngle: degrees(right > 0 ? Math.atan2(below, right) : Math.atan2(-below, -right))
  }
}

function degrees (radians: number): number {
  return radians * 180 / Math.PI
}
