import { NAMES } from '../../test/lab/peers/names.ts'
import { legend } from '../report/legend.ts'
import { logDomain, logTicks } from '../report/log-axis.ts'
import { RIVALS, TEXT } from '../report/palette.ts'
import { rivalsAt } from '../series.ts'
import { NET, timeRatio } from './comparisons.ts'
import type { Of } from './comparisons.ts'
import type { ReportedRow, ThroughputReport } from './report.ts'
import type { TopLevelSpec } from 'vega-lite'

interface Bar {
  rival: string
  ratio: number
  p10: number
  p90: number
}

interface Group {
  name: string
  bars: Bar[]
}

/** The published ratios of tcp-conn, as one more rival */
const PUBLISHED = 'tcp-conn'

const WIDTH = 440

/** A bar has a lane, and below it there is one for its spread */
const LANE = 10
const BAR = 13

/**
 * What a connection or a stream adds to what it is compared with, a group of
 * bars for each row: connections to raw net, streams to the official transport.
 * Bars start at 1, on a logarithmic axis: twice as much and half as much are
 * equally far from there. The slowest rows of ours come first, and a label says
 * what is slower: its bar may be short beside that of a large gain.
 */
export function throughputChart (report: ThroughputReport, level: string): TopLevelSpec {
  const base: Of = level === NET.level ? NET : { level, rival: 'official' }
  const rivals = rivalsAt(report, level).filter(rival => rival !== base.rival)
  const groups = report.rows
    .map(row => ({ name: row.title.split(': ')[0], bars: [...measured(report, row, rivals, base), ...published(row, level)] }))
    .filter(({ bars }) => bars.length > 0)
    .toSorted((a, b) => ratioOfOurs(b) - ratioOfOurs(a))
  const drawn = [...rivals, PUBLISHED].filter(rival => groups.some(({ bars }) => bars.some(bar => bar.rival === rival)))
  const panels = alike(groups)
  const title = level === NET.level ? 'A connection, against raw net' : 'A stream through Noise and yamux, against the official transport'
  const axis = `time per operation, as a multiple of ${level === NET.level ? 'raw net\'s' : 'that of @libp2p/tcp'} (left is faster)`
  const domain = logDomain([1, ...groups.flatMap(({ bars }) => bars.flatMap(({ ratio, p10, p90 }) => [ratio, p10, p90]))], 1.05)

  return {
    title: {
      text: title,
      subtitle: [
        'Medians of ratios by round, slowest first; the line below a bar goes from their 10th to their 90th percentile.',
        ...(drawn.includes(PUBLISHED) ? ['tcp-conn\'s ratios are those of its report, to raw TCP in Go on its own machine.'] : [])
      ]
    },
    description: title,
    spacing: 10,
    vconcat: [
      legend(drawn.map(rival => ({ name: NAMES[rival], colour: RIVALS[rival] }))),
      ...panels.map((panel, index) => ratioPanel(panel, domain, index === panels.length - 1 ? axis : undefined))
    ]
  } as TopLevelSpec
}

function measured (report: ThroughputReport, { name }: ReportedRow, rivals: string[], base: Of): Bar[] {
  return rivals.flatMap(rival => {
    const comparison = timeRatio(report, name, { level: base.level, rival }, base)

    return comparison == null ? [] : [{ rival, ...comparison }]
  })
}

function published ({ published: { overhead } }: ReportedRow, level: string): Bar[] {
  return overhead == null || level !== NET.level ? [] : [{ rival: PUBLISHED, ratio: overhead, p10: overhead, p90: overhead }]
}

/** Or of the first one where ours was not measured. */
function ratioOfOurs ({ bars }: Group): number {
  return (bars.find(({ rival }) => rival === 'ours') ?? bars[0]).ratio
}

/**
 * Groups that follow each other and have bars of the same rivals make a panel: in
 * one panel each has as much room as the largest.
 */
function alike (groups: Group[]): Group[][] {
  const rivalsOf = ({ bars }: Group): string => bars.map(({ rival }) => rival).join()
  const panels: Group[][] = []

  groups.forEach(group => {
    const last = panels.at(-1)

    if (last != null && rivalsOf(last[0]) === rivalsOf(group)) {
      last.push(group)
    } else {
      panels.push([group])
    }
  })

  return panels
}

/** Only the last panel shows its axis, whose title this is. */
function ratioPanel (groups: Group[], domain: [number, number], axis?: string): object {
  const lane = (rival: string, of = 'bar'): string => `${rival} ${of}`
  const isLast = axis != null

  return {
    width: WIDTH,
    height: { step: LANE, for: 'offset' },
    data: {
      values: groups.flatMap(({ name, bars }) => bars.map(({ rival, ratio, p10, p90 }) => ({
        name,
        ratio,
        p10,
        p90,
        colour: RIVALS[rival],
        one: 1,
        barLane: lane(rival),
        spreadLane: lane(rival, 'spread'),
        end: Math.max(ratio, p90, 1),
        label: `${ratio.toFixed(2)}×${p10 > 1 ? ' slower' : ''}`
      })))
    },
    encoding: {
      y: { field: 'name', type: 'nominal', sort: null, title: null, scale: { paddingInner: 0.28, paddingOuter: 0.1 }, axis: { domain: false, ticks: false, labelPadding: 10 } },
      yOffset: { field: 'barLane', type: 'nominal', scale: { domain: groups[0].bars.flatMap(({ rival }) => [lane(rival), lane(rival, 'spread')]) } }
    },
    layer: [
      {
        mark: { type: 'bar', height: BAR },
        encoding: {
          x: {
            field: 'ratio',
            type: 'quantitative',
            title: axis ?? null,
            scale: { type: 'log', base: 2, domain, nice: false },
            axis: { values: logTicks(domain), labelExpr: 'format(datum.value, "~g") + "×"', domain: false, labels: isLast, ticks: isLast }
          },
          x2: { field: 'one' },
          color: { field: 'colour', type: 'nominal', scale: null }
        }
      },
      {
        mark: { type: 'rule', color: TEXT, strokeWidth: 2 },
        encoding: { x: { field: 'p10', type: 'quantitative' }, x2: { field: 'p90' }, yOffset: { field: 'spreadLane' } }
      },
      {
        mark: { type: 'text', align: 'left', dx: 6, fontSize: 11, color: TEXT },
        encoding: { x: { field: 'end', type: 'quantitative' }, text: { field: 'label' } }
      },
      {
        data: { values: [{ one: 1 }] },
        mark: { type: 'rule', color: TEXT, strokeWidth: 1.5 },
        encoding: { x: { field: 'one', type: 'quantitative' }, y: null, yOffset: null }
      }
    ]
  }
}
