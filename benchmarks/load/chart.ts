import { NAMES } from '../../test/lab/peers/names.ts'
import { logDomain, logTicks } from '../report/chart.ts'
import { ACCENT, ALARM, MUTED } from '../report/palette.ts'
import type { LoadReport, LoadRow } from './report.ts'
import type { Chart, Panel } from '../report/chart.ts'

const HEIGHT = 110

/** Latency over time, a panel per pair that was measured on the line which has its samples */
export function latencyChart ({ rows }: LoadReport): Chart {
  const shown = rows.filter(({ waits }) => waits != null)
  const [{ rate, roundTrip, queue, uploads }] = shown
  const until = Math.max(...shown.map(({ seconds }) => seconds))
  const domain = logDomain(shown.flatMap(({ waits = [] }) => waits.flatMap(({ ms }) => ms ?? [])), 1.3)

  return {
    title: `${uploads === 1 ? 'An upload fills' : `${uploads} uploads fill`} a line of ${rate} Mbit/s`,
    subtitle: [`How long 100 B take there and back beside it, in ms, over time in s. ${roundTrip} ms round trip, ${queue / 1024} KiB queue.`],
    legend: [
      { name: 'echo on an old stream', colour: MUTED },
      { name: 'new stream and its first echo', colour: ACCENT },
      { name: 'the connection dies; × never came back', colour: ALARM }
    ],
    panels: shown.map(row => latencyPanel(row, domain, until))
  }
}

function latencyPanel ({ dialer, listener, waits = [], lived, error, stream, echo }: LoadRow, domain: [number, number], until: number): Panel {
  const of = (kind: string): Array<{ x: number, y: number }> => waits.flatMap(wait => wait.kind === kind && wait.ms != null ? [{ x: wait.at / 1_000, y: wait.ms }] : [])
  const lost = error == null ? [] : waits.filter(({ kind, ms }) => kind === 'stream' && ms == null).map(({ at }) => ({ x: at / 1_000, y: domain[1] / 1.25 }))
  const death = error == null ? [] : [lived / 1_000]

  return {
    title: dialer === listener ? NAMES[dialer] : `${NAMES[dialer]}, uploading to ${NAMES[listener]}`,
    subtitle: error == null ? `lives; echo ${Math.round(echo.p50)} ms, new stream ${Math.round(stream.p50)} ms (medians)` : `${stream.failed} of ${stream.begun} new streams never came back`,
    width: 560,
    height: HEIGHT,
    x: { domain: [0, until] },
    y: { domain, isLog: true, ticks: logTicks(domain) },
    marks: [
      { type: 'line', colour: MUTED, size: 1.5, values: of('echo') },
      { type: 'point', colour: ACCENT, size: 22, values: of('stream') },
      { type: 'point', colour: ALARM, size: 30, shape: 'M-1,-1L1,1M1,-1L-1,1', values: lost },
      { type: 'rule', colour: ALARM, values: death.map(x => ({ x, x2: x + 0.001, y: domain[0], y2: domain[1] })) },
      { type: 'text', colour: ALARM, dx: 8, values: death.map(x => ({ x, y: Math.sqrt(domain[0] * domain[1]), text: `dead after ${x.toFixed(1)} s` })) }
    ]
  }
}
