import { whole } from '../report/numbers.ts'
import { ACCENT, LINE, MUTED, TEXT } from '../report/palette.ts'
import type { CapturedDial, FastOpenReport, Segment, Side } from './report.ts'
import type { TopLevelSpec } from 'vega-lite'

const GAP = 230
const MARGIN = 70
const WIDTH = GAP + 2 * MARGIN
const HEIGHT = 380
const HEAD = 10

/** In a box from -1 to 1, pointing up */
const HEAD_SHAPE = 'M0,-1L0.62,1L0,0.6L-0.62,1Z'

/** How far along its arrow a label stands */
const LABEL_AT = 0.33

const SIDES: Side[] = ['dialler', 'listener']
const X: Record<Side, number> = { dialler: MARGIN, listener: MARGIN + GAP }

/**
 * A dial without Fast Open beside one with it, as textbooks draw them: time runs down,
 * each segment is an arrow from one lifeline to the other.
 */
export function fastOpenChart (report: FastOpenReport): TopLevelSpec {
  const title = `From a dial to the first echoed byte, ${whole(report.roundTrip)} ms round trip`
  const until = 1.04 * Math.max(...report.dials.flatMap(({ firstByte, segments }) => [firstByte, ...segments.map(({ received }) => received)]))

  return {
    title: { text: title, subtitle: ['Blue: segments that carry bytes, grey: those that carry none, as captured at both ends. Dot: the first byte is back.'] },
    description: title,
    spacing: 20,
    hconcat: report.dials.map((dial, index) => panel(dial, until, index === 0))
  } as TopLevelSpec
}

function panel (dial: CapturedDial, until: number, isFirst: boolean): object {
  const arrows = dial.segments.map(segment => arrow(segment, until))
  const colour = { field: 'colour', type: 'nominal', scale: null }

  return {
    title: { text: dial.rival === 'fast-open' ? 'With TCP Fast Open' : 'Without', subtitle: `first byte after ${whole(dial.firstByte)} ms`, fontSize: 13, offset: 30, frame: 'group' },
    width: WIDTH,
    height: HEIGHT,
    encoding: {
      x: { field: 'x', type: 'quantitative', scale: { domain: [0, WIDTH], nice: false }, axis: null },
      y: {
        field: 'y',
        type: 'quantitative',
        title: isFirst ? 'time since the SYN (ms)' : null,
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
      {
        // what carries bytes lies above what carries none
        data: { values: arrows.toSorted((a, b) => a.bytes - b.bytes) },
        mark: { type: 'rule', strokeWidth: 1.6 },
        encoding: { x2: { field: 'x2' }, y2: { field: 'y2' }, color: colour }
      },
      {
        data: { values: arrows.map(arrow => ({ ...arrow, ...arrow.head })) },
        mark: { type: 'point', shape: HEAD_SHAPE, filled: true, size: HEAD ** 2, opacity: 1 },
        encoding: { color: colour, angle: { field: 'headAngle', type: 'quantitative', scale: null } }
      },
      {
        data: { values: [{ x: X.dialler, y: dial.firstByte }] },
        mark: { type: 'point', filled: true, size: 40, color: TEXT, opacity: 1 }
      },
      ...labelled(arrows, until).map(({ label, place, textAngle, colour }) => ({
        data: { values: [{ ...place, label }] },
        // vega-lite takes the angle of a text from its mark alone
        mark: { type: 'text', angle: textAngle, baseline: 'bottom', dy: -4, color: colour, fontSize: 12 },
        encoding: { text: { field: 'label' } }
      }))
    ]
  }
}

interface Place {
  x: number
  y: number
}

/** x in pixels, y in milliseconds, angles as they look */
interface Arrow extends Place {
  from: Side
  bytes: number
  x2: number
  y2: number
  colour: string
  head: Place
  headAngle: number
  label: string
  place: Place
  textAngle: number
}

function arrow ({ from, sent, received, flags, bytes }: Segment, until: number): Arrow {
  const x = X[from]
  const x2 = X[from === 'dialler' ? 'listener' : 'dialler']
  const right = x2 - x
  const below = (received - sent) * HEIGHT / until
  const along = (share: number): Place => ({ x: x + right * share, y: sent + (received - sent) * share })

  return {
    from,
    bytes,
    colour: bytes > 0 ? ACCENT : MUTED,
    x,
    y: sent,
    x2,
    y2: received,
    // the tip touches the lifeline, the head is drawn about its middle
    head: along(1 - HEAD / 2 / Math.hypot(right, below)),
    headAngle: degrees(Math.atan2(right, -below)),
    label: labelOf(flags, bytes),
    place: along(LABEL_AT),
    // never upside down
    textAngle: degrees(right > 0 ? Math.atan2(below, right) : Math.atan2(-below, -right))
  }
}

/** Of arrows of one side that are near each other the first speaks for all, by the sum of their bytes */
function labelled (arrows: Arrow[], until: number): Arrow[] {
  return SIDES.flatMap(side => {
    const groups: Arrow[][] = []

    for (const arrow of arrows.filter(({ from }) => from === side)) {
      const group = groups.at(-1)

      if (group != null && arrow.y - group[0].y < until / 18) {
        group.push(arrow)
      } else {
        groups.push([arrow])
      }
    }

    return groups.map(group => {
      const names = group.map(({ label, bytes }) => ({ label, bytes })).filter(({ label }, index) => index === 0 || label !== 'ACK')
      const plain = names.filter(({ label, bytes }) => bytes > 0 && label === `${bytes} B`)
      const others = names.filter(name => !plain.includes(name)).map(({ label }) => label)
      const sum = plain.length === 0 ? [] : [`${plain.reduce((sum, { bytes }) => sum + bytes, 0)} B${plain.length > 1 ? ` in ${plain.length}` : ''}`]
      const texts = [...others, ...sum]

      return { ...group[0], colour: group.some(({ bytes }) => bytes > 0) ? ACCENT : MUTED, label: (texts.length > 1 ? texts.filter(text => text !== 'ACK') : texts).join(', ') }
    })
  })
}

function labelOf (flags: string, bytes: number): string {
  const names: Record<string, string> = { S: 'SYN', 'S.': 'SYN-ACK' }

  return [names[flags] ?? '', bytes > 0 ? `${bytes} B` : ''].filter(text => text !== '').join(' + ') || 'ACK'
}

function degrees (radians: number): number {
  return radians * 180 / Math.PI
}
