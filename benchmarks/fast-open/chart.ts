import { whole } from '../../test/lab/report/numbers.ts'
import { ACCENT, MUTED } from '../report/palette.ts'
import { arrowIn, sequencePanel } from '../report/sequence-chart.ts'
import type { CapturedDial, FastOpenReport, Segment, Side } from './report.ts'
import type { Arrow, Frame } from '../report/sequence-chart.ts'
import type { TopLevelSpec } from 'vega-lite'

/** How far along its arrow a label stands */
const LABEL_AT = 0.33

/** Segments of one side that are less than this share of the height apart have one label */
const NEAR = 1 / 18

/** A dial without Fast Open beside one with it */
export function fastOpenChart (report: FastOpenReport): TopLevelSpec {
  const title = `From a dial to the first echoed byte, ${whole(report.roundTrip)} ms round trip`
  const until = 1.04 * Math.max(...report.dials.flatMap(({ firstByte, segments }) => [firstByte, ...segments.map(({ received }) => received)]))
  const frame: Frame<Side> = { sides: ['dialer', 'listener'], gap: 230, margin: 70, height: 380, until }

  return {
    title: { text: title, subtitle: ['Blue: segments that carry bytes, grey: those that carry none, as captured at both ends. Dot: the first byte is back.'] },
    description: title,
    spacing: 20,
    hconcat: report.dials.map((dial, index) => panel(frame, dial, index === 0))
  } as TopLevelSpec
}

function panel (frame: Frame<Side>, { rival, firstByte, segments }: CapturedDial, isFirst: boolean): object {
  const arrow = (segment: Segment): Arrow => arrowIn(frame, segment, colourOf([segment]), LABEL_AT)

  return sequencePanel(frame, {
    title: { text: rival === 'fast-open' ? 'With TCP Fast Open' : 'Without', subtitle: `first byte after ${whole(firstByte)} ms` },
    axis: isFirst ? 'time since the SYN (ms)' : undefined,
    // what carries bytes lies above what carries none
    lines: [{ strokeWidth: 1.6, arrows: segments.toSorted((a, b) => a.bytes - b.bytes).map(arrow) }],
    labels: groupsOf(frame, segments).map(group => ({ ...arrow(group[0]), colour: colourOf(group), label: labelOf(group) })),
    dots: { size: 40, at: [{ side: 'dialer', time: firstByte }] }
  })
}

function colourOf (segments: Segment[]): string {
  return segments.some(({ bytes }) => bytes > 0) ? ACCENT : MUTED
}

/** Those of one side that are near each other */
function groupsOf ({ sides, until }: Frame<Side>, segments: Segment[]): Segment[][] {
  return sides.flatMap(side => {
    const groups: Segment[][] = []

    for (const segment of segments.filter(({ from }) => from === side)) {
      const group = groups.at(-1)

      if (group != null && segment.sent - group[0].sent < until * NEAR) {
        group.push(segment)
      } else {
        groups.push([segment])
      }
    }

    return groups
  })
}

/** What is no plain data, and the sum of what is; an ACK is named only where it is alone */
function labelOf (segments: Segment[]): string {
  const special = segments.filter(({ flags }) => flags in FLAGS).map(({ flags, bytes }) => `${FLAGS[flags]}${bytes > 0 ? ` + ${bytes} B` : ''}`)
  const plain = segments.filter(({ flags, bytes }) => !(flags in FLAGS) && bytes > 0)
  const sum = `${plain.reduce((sum, { bytes }) => sum + bytes, 0)} B${plain.length > 1 ? ` in ${plain.length}` : ''}`

  return [...special, ...(plain.length === 0 ? [] : [sum])].join(', ') || 'ACK'
}

const FLAGS: Record<string, string> = { S: 'SYN', 'S.': 'SYN-ACK' }
