import { STEPS } from '../contenders/contender.ts'
import { barChart } from '../report/bar-chart.ts'
import { ms, trips } from '../report/numbers.ts'
import { median } from '../statistics.ts'
import { samplesOf, summariseLink, untoldOf } from './summary.ts'
import type { ConnectReport } from './report.ts'
import type { FirstByte } from '../contenders/contender.ts'
import type { BarRow } from '../report/bar-chart.ts'
import type { TopLevelSpec } from 'vega-lite'

const STEP_NAMES: Record<typeof STEPS[number], string> = {
  connect: 'TCP connection',
  security: 'security',
  muxer: 'muxer',
  stream: 'stream',
  firstByte: 'first byte'
}

/**
 * TCP connection, security and muxer, where they cannot be told apart
 */
const UNTOLD = 'all three as one'

/**
 * Where the time to the first byte goes, a bar per rival, a panel per link. A
 * rival without samples has no bar.
 */
export function connectChart ({ links, rivals }: Pick<ConnectReport, 'links' | 'rivals'>): TopLevelSpec {
  const isUntold = links.some(link => link.runs.some(({ sample }) => sample != null && untoldOf(sample) > 0))
  const phases = STEPS.map(step => ({ name: STEP_NAMES[step], of: (sample: FirstByte) => sample[step] ?? 0 }))

  if (isUntold) {
    // in the place of what it stands for, so that a bar is in the order of time
    phases.splice(STEPS.indexOf('stream'), 0, { name: UNTOLD, of: untoldOf })
  }

  return barChart({
    title: 'From a dial to the first byte that is echoed',
    subtitle: ['Medians of the whole, divided as the medians of the steps are. The line below a bar: 10th to 90th percentile of the whole.'],
    axis: 'time to the first byte (ms)',
    phases: phases.map(({ name }) => name),
    panels: links.map(link => ({
      title: link.kind === 'loopback' ? 'loopback' : `${ms(link.roundTrip)} ms round trip (${link.kind})`,
      rows: summariseLink(link, rivals)
        .filter(({ total }) => total.count > 0)
        .map(({ rival, title, total, roundTrips }): BarRow => ({
          name: title,
          value: total,
          label: [`${ms(total.median)} ms`, ...(Number.isNaN(roundTrips) ? [] : [`${trips(roundTrips)} round trips`])].join(', '),
          phases: Object.fromEntries(phases.map(({ name, of }) => [name, median(samplesOf(link, rival).map(of))]))
        }))
    }))
  })
}
