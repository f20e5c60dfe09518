import { LINE, TEXT } from './palette.ts'

const HEAD = 10

/** In a box from -1 to 1, pointing up */
const HEAD_SHAPE = 'M0,-1L0.62,1L0,0.6L-0.62,1Z'

/**
 * Two lifelines as textbooks draw them: time runs down, each segment is an arrow from
 * one to the other, aslant because it takes time. Lengths are in pixels.
 */
export interface Frame<Side extends string> {
  /** From left to right */
  sides: [Side, Side]
  gap: number
  margin: number
  height: number

  /** The time at the bottom, in ms */
  until: number
}

interface Place {
  x: number
  y: number
}

/** x in pixels, y in milliseconds, angles as they look */
export interface Arrow extends Place {
  x2: number
  y2: number
  colour: string
  head: Place
  headAngle: number
  labelPlace: Place
  textAngle: number
}

export interface Contents<Side extends string> {
  title: { text: string, subtitle: string }

  /** That of the time; only a panel that has it shows its axis */
  axis?: string

  /** From the lowest to the highest */
  lines: Array<{ strokeWidth: number, arrows: Arrow[] }>
  labels: Array<Arrow & { label: string }>
  dots: { size: number, at: Array<{ side: Side, time: number }> }

  /** Further layers */
  notes?: object[]
}

/** Layers that have `x` and `y` share the scales of the panel */
export function sequencePanel<Side extends string> (frame: Frame<Side>, { title, axis, lines, labels, dots, notes = [] }: Contents<Side>): object {
  const { sides, gap, margin, height, until } = frame
  const width = gap + 2 * margin
  const colour = { field: 'colour', type: 'nominal', scale: null }

  return {
    title: { ...title, fontSize: 13, offset: 30, frame: 'group' },
    width,
    height,
    encoding: {
      x: { field: 'x', type: 'quantitative', scale: { domain: [0, width], nice: false }, axis: null },
      y: {
        field: 'y',
        type: 'quantitative',
        title: axis ?? null,
        scale: { domain: [0, until], reverse: true, nice: false },
        axis: { tickCount: 6, domain: false, labels: axis != null, ticks: axis != null }
      }
    },
    layer: [
      {
        data: { values: sides.map(side => ({ x: xOf(frame, side), y: 0, y2: until })) },
        mark: { type: 'rule', color: LINE, strokeWidth: 2 },
        encoding: { y2: { field: 'y2' } }
      },
      {
        data: { values: sides.map(side => ({ x: xOf(frame, side), y: 0, text: side })) },
        mark: { type: 'text', dy: -18, fontWeight: 'bold', color: TEXT },
        encoding: { text: { field: 'text' } }
      },
      ...lines.map(({ strokeWidth, arrows }) => ({
        data: { values: arrows },
        mark: { type: 'rule', strokeWidth },
        encoding: { x2: { field: 'x2' }, y2: { field: 'y2' }, color: colour }
      })),
      {
        data: { values: lines.flatMap(({ arrows }) => arrows.map(arrow => ({ ...arrow, ...arrow.head }))) },
        mark: { type: 'point', shape: HEAD_SHAPE, filled: true, size: HEAD ** 2, opacity: 1 },
        encoding: { color: colour, angle: { field: 'headAngle', type: 'quantitative', scale: null } }
      },
      {
        data: { values: dots.at.map(({ side, time }) => ({ x: xOf(frame, side), y: time })) },
        mark: { type: 'point', filled: true, size: dots.size, color: TEXT, opacity: 1 }
      },
      ...labels.map(({ label, labelPlace, textAngle, colour }) => ({
        data: { values: [{ ...labelPlace, label }] },
        // vega-lite takes the angle of a text from its mark alone
        mark: { type: 'text', angle: textAngle, baseline: 'bottom', dy: -4, color: colour, fontSize: 12 },
        encoding: { text: { field: 'label' } }
      })),
      ...notes
    ]
  }
}

export function xOf<Side extends string> ({ sides, gap, margin }: Frame<Side>, side: Side): number {
  return side === sides[0] ? margin : margin + gap
}

/** Its label stands at `labelAt` of its way, 0 to 1 */
export function arrowIn<Side extends string> (frame: Frame<Side>, { from, sent, received }: { from: Side, sent: number, received: number }, colour: string, labelAt: number): Arrow {
  const [left, other] = frame.sides
  const x = xOf(frame, from)
  const x2 = xOf(frame, from === left ? other : left)
  const right = x2 - x
  const below = (received - sent) * frame.height / frame.until
  const along = (share: number): Place => ({ x: x + right * share, y: sent + (received - sent) * share })

  return {
    colour,
    x,
    y: sent,
    x2,
    y2: received,
    // the tip touches the lifeline, the head is drawn about its middle
    head: along(1 - HEAD / 2 / Math.hypot(right, below)),
    headAngle: degrees(Math.atan2(right, -below)),
    labelPlace: along(labelAt),
    // never upside down
    textAngle: degrees(right > 0 ? Math.atan2(below, right) : Math.atan2(-below, -right))
  }
}

function degrees (radians: number): number {
  return radians * 180 / Math.PI
}
