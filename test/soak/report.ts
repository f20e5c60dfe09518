import { ACCENT, MUTED, RIVALS } from '../../benchmarks/report/palette.ts'
import { short } from '../lab/report/numbers.ts'
import { markdownTable, tableOf } from '../lab/report/table.ts'
import { slopeOf, sum } from '../lab/statistics.ts'
import { OWN_TIMERS, doneOf } from './fleet.ts'
import type { FleetResult, Process } from './fleet.ts'
import type { Chart, Mark } from '../../benchmarks/report/chart.ts'
import type { Series } from '../../benchmarks/series.ts'
import type { Verdict } from '../lab/suite.ts'

const MB = 1e6

/** Caches fill in the first ten minutes, or in the first third of a short run */
const WARM_UP = 10

/** A heap that grows by more than this, in MB an hour, and by more than three standard errors leaks, if it was watched for so many minutes */
const LEAK = 2
const WATCHED = 30

type Quantity = 'heap' | 'rss'

/** In MB an hour, after the warm-up */
function growth ({ samples }: Process, quantity: Quantity): { slope: number, error: number } {
  const warm = Math.min(WARM_UP, (samples.at(-1)?.minute ?? 0) / 3)

  return slopeOf(samples.filter(({ minute }) => minute > warm).map(sample => [sample.minute / 60, sample[quantity] / MB]))
}

/** What failed for no reason that we know, by error */
function unexplained ({ failures }: FleetResult): Array<[error: string, count: number]> {
  const counts = new Map<string, number>()

  failures.filter(({ cause }) => cause == null).forEach(({ kind, pair, error }) => {
    const name = `${kind} ${pair}: ${error.replaceAll(/\w*\d[\w.:]*/g, 'N').replaceAll(/\s+/g, ' ').slice(0, 120)}`
    counts.set(name, (counts.get(name) ?? 0) + 1)
  })

  return [...counts]
}

export function summaryOf (result: FleetResult): string {
  const { processes, failures, lines, restarts } = result
  const latest = processes.flatMap(({ samples }) => samples.at(-1) ?? [])
  const of = (stack: string, quantity: Quantity): string => short(sum(processes.filter(process => process.stack === stack).map(({ samples }) => (samples.at(-1)?.[quantity] ?? NaN) / MB)))
  const stacks = [...new Set(processes.map(({ stack }) => stack))]

  return [
    `${sum(doneOf(result).map(([,, streams]) => streams))} streams`,
    `${failures.length} failed, ${failures.filter(({ cause }) => cause == null).length} of them not by churn`,
    `${sum(failures.map(({ lost }) => lost))} B lost`,
    `${restarts} restarts`,
    `${sum(latest.map(({ connections }) => connections))} ends of connections`,
    ...stacks.map(stack => `${stack}: heap ${of(stack, 'heap')}, RSS ${of(stack, 'rss')} MB`),
    `${lines.at(-1)?.packets} packets, ${lines.at(-1)?.dropped} dropped, late by ${lines.at(-1)?.late.join(' to ')} ms; loop away ${short(Math.max(...latest.map(({ away }) => away)))} ms`
  ].join('; ')
}

export function verdictOf (result: FleetResult): Verdict {
  const ours = result.processes.filter(({ stack }) => stack === 'ours')

  return {
    summary: summaryOf(result),
    // official is what we are compared with
    complaints: ours.length === 0
      ? []
      : [
          ...failsMore(result),
          // the second of a pair has sent the content
          ...result.failures.filter(({ lost, cause, pair }) => lost > 0 && cause == null && pair.endsWith('> ours')).map(({ kind, pair, error, lost }) => `${lost} B lost: ${kind} ${pair}: ${error}`),
          ...result.uncaught.filter(({ stack }) => stack === 'ours').map(({ error }) => `uncaught: ${error}`),
          ...ours.flatMap(process => {
            const { name, samples, left } = process
            const { slope, error } = growth(process, 'heap')
            const isWatched = (samples.at(-1)?.minute ?? 0) - WARM_UP >= WATCHED

            return [
              ...isWatched && slope > LEAK && slope > 3 * error ? [`${name}: the heap grows by ${slope.toFixed(1)} ± ${error.toFixed(1)} MB an hour`] : [],
              ...left.sockets > 0 || left.timers > OWN_TIMERS ? [`${name}: ${left.sockets} sockets and ${left.timers - OWN_TIMERS} timers are left when all nodes have stopped`] : [],
              ...(samples.at(-1)?.corrupt ?? 0) > 0 ? [`${name}: gossip came that nobody sent`] : []
            ]
          })
        ],
    raw: result
  }
}

/** Whether a larger part fails between ours and others, for no reason that we know, than between two official nodes of the same fleet. A busy machine fails both */
function failsMore (result: FleetResult): string[] {
  const [ours, official] = [(pair: string) => pair.includes('ours'), (pair: string) => pair === 'official > official'].map(belongs => {
    const failed = result.failures.filter(({ kind, pair, cause }) => kind !== 'dial' && cause == null && belongs(pair)).length

    return { failed, all: failed + sum(doneOf(result).filter(([name, kind]) => kind !== 'dial' && belongs(name.slice(kind.length + 1))).map(([,, streams]) => streams)) }
  })
  const share = (ours.failed + official.failed) / (ours.all + official.all)
  const noise = Math.sqrt(share * (1 - share) * (1 / ours.all + 1 / official.all))

  return ours.failed / ours.all - official.failed / official.all > 3 * noise ? [`${ours.failed} of ${ours.all} fail with ours, and ${official.failed} of ${official.all} with official`] : []
}

/** With the ends of connections between the two at that time */
function failureLine ({ kind, pair, from, to, began, ended, error, lost, cause, overs }: FleetResult['failures'][number]): string {
  const ends = overs.map(over => `${over.from} ${over.at - began} ms${over.error == null ? '' : ` by ${over.error}`}`)

  return `- ${kind} ${pair}, ${from} asked ${to}, failed after ${ended - began} ms by ${error}${lost > 0 ? `, ${lost} B lost` : ''}, for ${cause ?? 'nothing that we know'}; ` +
    `ends of connections: ${ends.join(', ') || 'none'}`
}

/** What each process holds, and what became of the streams */
export function tablesOf (result: FleetResult): string {
  const { name, processes, failures, uncaught, nodes, restarts, longestStop, lines } = result
  const grown = (process: Process, quantity: Quantity): string => {
    const { slope, error } = growth(process, quantity)

    return `${short(slope)} ± ${short(error)}`
  }
  const last = ({ samples }: Process) => samples[samples.length - 1] // eslint-disable-line @typescript-eslint/explicit-function-return-type
  const failed = (key: string): typeof failures => failures.filter(({ kind, pair }) => `${kind} ${pair}` === key)

  return [
    `## ${name}: ${nodes} nodes`,
    markdownTable(tableOf(processes, [
      ['process', ({ name }) => name, 'left'],
      ['heap, MB', process => short(last(process).heap / MB)],
      ['MB/h', process => grown(process, 'heap')],
      ['RSS, MB', process => short(last(process).rss / MB)],
      ['MB/h', process => grown(process, 'rss')],
      ['processor, %', process => short(last(process).cpu / last(process).minute / 600)],
      ['connections', process => `${last(process).connections}`],
      ['streams', process => `${last(process).streams}`],
      ['sockets', process => `${last(process).resources.TCPSocketWrap}`],
      ['timers', process => `${last(process).resources.Timeout}`],
      ['left: sockets, timers', ({ left }) => `${left.sockets}, ${left.timers}`],
      ['gossip', process => `${last(process).delivered}`]
    ])),
    markdownTable(tableOf(doneOf(result).sort(([a], [b]) => a < b ? -1 : 1), [
      ['streams', ([key]) => key, 'left'],
      ['done', ([,, streams]) => `${streams}`],
      ['MB', ([,,, bytes]) => short(bytes / MB)],
      ['failed by churn', ([key]) => `${failed(key).filter(({ cause }) => cause != null).length}`],
      ['otherwise', ([key]) => `${failed(key).filter(({ cause }) => cause == null).length}`],
      ['bytes lost', ([key]) => `${sum(failed(key).map(({ lost }) => lost))}`]
    ])),
    `${restarts} nodes were stopped and started again, a stop took at most ${Math.round(longestStop)} ms. ${lines.at(-1)?.packets.toLocaleString('en')} packets went over the lines. Gossip: ${sum(processes.map(process => last(process).published))} messages published.`,
    [
      ...unexplained(result).map(([name, count]) => `- ${count} times ${name}`),
      ...failures.filter(({ cause, lost }) => cause == null || lost > 0).slice(0, 50).map(failureLine),
      ...uncaught.map(({ stack, error }) => `- uncaught with ${stack}: ${error.split('\n').slice(0, 4).join(' ')}`)
    ].join('\n')
  ].join('\n\n')
}

/** Which lines of the chart and columns of the page there are */
const GROUPS = [
  { name: 'ours', title: 'ours, in the mixed fleet', fleet: 'mixed', stack: 'ours', colour: ACCENT },
  { name: 'official beside ours', title: 'official, in the mixed fleet', fleet: 'mixed', stack: 'official', colour: MUTED },
  { name: 'official alone', title: 'official alone', fleet: 'official', stack: 'official', colour: RIVALS.official }
]

/** For the page of docs: a sample of each process, or one of all streams that had such an end */
export function seriesOf (results: FleetResult[]): Series[] {
  return GROUPS.flatMap(({ name: rival, fleet, stack }) => results.filter(({ name }) => name === fleet).flatMap(result => {
    const processes = result.processes.filter(process => process.stack === stack)
    const belongs = (pair: string): boolean => stack === 'ours' ? pair.includes('ours') : pair === 'official > official'
    const failures = result.failures.filter(({ kind, pair }) => kind !== 'dial' && belongs(pair))
    const last = ({ samples }: Process) => samples[samples.length - 1] // eslint-disable-line @typescript-eslint/explicit-function-return-type
    const row = (row: string, unit: string, samples: number[]): Series => ({ group: 'soak', row, rival, metric: row, unit, samples })

    return [
      row('streams', 'streams', [sum(doneOf(result).filter(([name, kind]) => kind !== 'dial' && belongs(name.slice(kind.length + 1))).map(([,, streams]) => streams))]),
      row('failed by churn', 'streams', [failures.filter(({ cause }) => cause != null).length]),
      row('failed otherwise', 'streams', [failures.filter(({ cause }) => cause == null).length]),
      row('bytes lost by churn', 'B', [sum(failures.filter(({ cause }) => cause != null).map(({ lost }) => lost))]),
      row('bytes lost otherwise', 'B', [sum(failures.filter(({ cause }) => cause == null).map(({ lost }) => lost))]),
      row('heap, MB', 'MB', processes.map(process => round(last(process).heap / MB))),
      row('growth, MB/h', 'MB/h', processes.map(process => round(growth(process, 'heap').slope))),
      row('RSS, MB', 'MB', processes.map(process => round(last(process).rss / MB)))
    ]
  }))
}

function round (value: number): number {
  return Number(value.toPrecision(3))
}

export function chartOf (results: FleetResult[], minutes: number): Chart {
  const of = (quantity: Quantity): Mark[] => GROUPS.flatMap(({ fleet, stack, colour }) => results.filter(({ name }) => name === fleet)
    .flatMap(({ processes }) => processes.filter(process => process.stack === stack))
    .map(({ samples }): Mark => ({ type: 'line', colour, size: 1.5, values: samples.map(sample => ({ x: sample.minute, y: Number((sample[quantity] / MB).toFixed(1)) })) })))

  return {
    title: `${sum(results.map(({ nodes }) => nodes))} nodes for ${minutes} minutes`,
    subtitle: ['MB of each process over minutes: queries, blocks, gossip and churn, over lines of 10 to 100 Mbit/s'],
    legend: GROUPS.map(({ title, colour }) => ({ name: title, colour })),
    columns: 2,
    panels: (['heap', 'rss'] as const).map(quantity => ({
      title: quantity === 'heap' ? 'Heap without garbage' : 'Resident memory',
      width: 330,
      height: 220,
      x: { domain: [0, minutes] },
      y: {},
      marks: of(quantity)
    }))
  }
}
