import { STEPS } from '../../test/lab/peers/contender.ts'
import { ms, trips } from '../../test/lab/report/numbers.ts'
import { median } from '../../test/lab/statistics.ts'
import { legend } from '../report/legend.ts'
import { SERIES, TEXT } from '../report/palette.ts'
import { samplesOf, summariseLink, untoldOf } from './summary.ts'
import type { ConnectReport, LinkRuns, RivalSummary } from './report.ts'
import type { FirstByte } from '../../test/lab/peers/contender.ts'
import type { TopLevelSpec } from 'vega-lite'

interface Phase {
  name: string
  of(sample: FirstByte): number
}

const STEP_NAMES: Record<typeof STEPS[number], string> = {
  connect: 'TCP connection',
  security: 'security',
  muxer: 'muxer',
  stream: 'stream',
  firstByte: 'first byte'
}

/** TCP connection, security and muxer, where they cannot be told apart */
const UNTOLD = 'all three as one'

const TITLE = 'From a dial to the first byte that is echoed'
const WIDTH = 420
const STEP = 32
const BAR = 15

/** The line of the spread lies below its bar, as no colour is seen on all others */
const BAR_OFFSET = -3
const SPREAD_OFFSET = 10

/**
 * Where the time to the first byte goes, a bar per rival, a panel per link. A
 * rival without samples has no bar.
 */
export function connectChart ({ links, rivals }: Pick<ConnectReport, 'links' | 'rivals'>): TopLevelSpec {
  const isUntold = links.some(link => link.runs.some(({ sample }) => sample != null && untoldOf(sample) > 0))
  const phases: Phase[] = STEPS.map(step => ({ name: STEP_NAMES[step], of: sample => sample[step] ?? 0 }))

  if (isUntold) {
    // in the place of what it stands for, so that a bar is in the order of time
    phases.splice(STEPS.indexOf('stream'), 0, { name: UNTOLD, of: untoldOf })
  }

  return {
    title: { text: TITLE, subtitle: ['Medians of the whole, divided as the medians of the steps are. The line below a bar: 10th to 90th percentile of the whole.'] },
    description: TITLE,
    spacing: 24,
    vconcat: [
      legend(phases.map(({ name }, index) => ({ name, colour: SERIES[index] }))),
      ...links.map(link => panel(link, summariseLink(link, rivals).filter(({ total }) => total.count > 0), phases))
    ]
  } as TopLevelSpec
}

function panel (link: LinkRuns, summaries: RivalSummary[], phases: Phase[]): object {
  const x = { type: 'quantitative', title: 'time to the first byte (ms)', axis: { tickCount: 6, domain: false } }

  return {
    title: { text: link.kind === 'loopback' ? 'loopback' : `${ms(link.roundTrip)} ms round trip (${link.kind})`, fontSize: 12, offset: 6, frame: 'group' },
    width: WIDTH,
    height: { step: STEP },
    encoding: {
      y: { field: 'title', type: 'nominal', sort: null, title: null, axis: { domain: false, ticks: false, labelPadding: 10, labelOffset: BAR_OFFSET } }
    },
    layer: [
      {
        data: { values: summaries.flatMap(summary => partsOf(link, summary, phases)) },
        mark: { type: 'bar', height: BAR, yOffset: BAR_OFFSET },
        encoding: {
          x: { ...x, field: 'part', stack: 'zero' },
          color: { field: 'colour', type: 'nominal', scale: null },
          order: { field: 'order' }
        }
      },
      {
        data: { values: summaries.map(({ title, total: { p10, p90 } }) => ({ title, p10, p90 })) },
        mark: { type: 'rule', color: TEXT, strokeWidth: 2, yOffset: SPREAD_OFFSET },
        encoding: { x: { field: 'p10', type: 'quantitative' }, x2: { field: 'p90' } }
      },
      {
        data: { values: summaries.flatMap(({ title, total: { p10, p90 } }) => [{ title, edge: p10 }, { title, edge: p90 }]) },
        mark: { type: 'tick', color: TEXT, thickness: 2, size: 6, yOffset: SPREAD_OFFSET },
        encoding: { x: { field: 'edge', type: 'quantitative' } }
      },
      {
        data: { values: summaries.map(({ title, total, roundTrips }) => ({ title, label: label(total.median, roundTrips), end: Math.max(total.median, total.p90) })) },
        mark: { type: 'text', align: 'left', dx: 8, yOffset: BAR_OFFSET, color: TEXT },
        encoding: { x: { field: 'end', type: 'quantitative' }, text: { field: 'label' } }
      }
    ]
  }
}

/**
 * The median of a sum is not the sum of medians: the phases share the median of the
 * whole in the proportion of theirs, so that a bar ends where its label says.
 */
function partsOf (link: LinkRuns, { rival, title, total }: RivalSummary, phases: Phase[]): object[] {
  const medians = phases.map(({ of }) => median(samplesOf(link, rival).map(of)))
  const sum = medians.reduce((sum, median) => sum + median, 0)

  return medians.map((median, order) => ({ title, order, part: median / sum * total.median, colour: SERIES[order] }))
}

function label (milliseconds: number, roundTrips: number): string {
  return [`${ms(milliseconds)} ms`, ...(Number.isNaN(roundTrips) ? [] : [`${trips(roundTrips)} round trips`])].join(', ')
}
