import { NAMES } from '../../test/lab/peers/names.ts'
import { legend } from '../report/legend.ts'
import { logDomain, logTicks } from '../report/log-axis.ts'
import { ACCENT, MUTED, RIVALS, TEXT } from '../report/palette.ts'
import type { LoadReport, LoadRow } from './report.ts'
import type { TopLevelSpec } from 'vega-lite'

const WIDTH = 560
const HEIGHT = 110

const ECHO = { name: 'echo on an old stream', colour: MUTED }
const STREAM = { name: 'new stream and its first echo', colour: ACCENT }
const DEATH = { name: 'the connection dies; × never came back', colour: RIVALS['tcp-conn'] }

/** Latency over time, a panel per pair that was measured on the line which has its samples */
export function latencyChart (report: LoadReport): TopLevelSpec {
  const rows = report.rows.filter(({ waits }) => waits != null)
  const [{ rate, roundTrip, queue, uploads }] = rows
  const title = `${uploads === 1 ? 'An upload fills' : `${uploads} uploads fill`} a line of ${rate} Mbit/s`
  const until = Math.max(...rows.map(({ seconds }) => seconds))
  const domain = logDomain(rows.flatMap(({ waits = [] }) => waits.flatMap(({ ms }) => ms ?? [])), 1.3)

  return {
    title: { text: title, subtitle: [`How long 100 B take there and back beside it, in ms, over time in s. ${roundTrip} ms round trip, ${queue / 1024} KiB queue.`] },
    description: title,
    spacing: 18,
    vconcat: [
      legend([ECHO, STREAM, DEATH]),
      ...rows.map((row, index) => latencyPanel(row, domain, until, index === rows.length - 1))
    ]
  } as TopLevelSpec
}

function latencyPanel ({ dialer, listener, waits = [], lived, error, stream, echo }: LoadRow, domain: [number, number], until: number, isLast: boolean): object {
  const name = dialer === listener ? NAMES[dialer] : `${NAMES[dialer]}, uploading to ${NAMES[listener]}`
  const points = waits.flatMap(({ kind, at, ms }) => ms == null ? [] : [{ kind, at: at / 1_000, ms, colour: kind === 'echo' ? ECHO.colour : STREAM.colour }])
  const lost = error == null ? [] : waits.filter(({ kind, ms }) => kind === 'stream' && ms == null).map(({ at }) => ({ at: at / 1_000, ms: domain[1] / 1.25 }))
  const death = error == null ? [] : [{ at: lived / 1_000, ms: domain[1], text: `dead after ${(lived / 1_000).toFixed(1)} s` }]

  return {
    title: { text: name, subtitle: error == null ? `lives; echo ${Math.round(echo.p50)} ms, new stream ${Math.round(stream.p50)} ms (medians)` : `${stream.failed} of ${stream.begun} new streams never came back`, fontSize: 12, subtitlePadding: 3, offset: 6, frame: 'group' },
    width: WIDTH,
    height: HEIGHT,
    encoding: {
      x: { field: 'at', type: 'quantitative', title: null, scale: { domain: [0, until], nice: false }, axis: { grid: false, labels: isLast, ticks: isLast, tickCount: 7 } },
      y: { field: 'ms', type: 'quantitative', title: null, scale: { type: 'log', domain, nice: false }, axis: { values: logTicks(domain), format: ',', domain: false, ticks: false, labelPadding: 8 } }
    },
    layer: [
      { data: { values: points.filter(({ kind }) => kind === 'echo') }, mark: { type: 'line', strokeWidth: 1.5, color: ECHO.colour } },
      { data: { values: points.filter(({ kind }) => kind === 'stream') }, mark: { type: 'point', filled: true, size: 22, color: STREAM.colour, opacity: 1 } },
      { data: { values: lost }, mark: { type: 'point', shape: 'M-1,-1L1,1M1,-1L-1,1', size: 30, strokeWidth: 1.6, color: DEATH.colour, opacity: 1 } },
      { data: { values: death }, mark: { type: 'rule', color: DEATH.colour, strokeWidth: 2 }, encoding: { y: { value: 0 }, y2: { value: HEIGHT } } },
      { data: { values: death }, mark: { type: 'text', align: 'left', dx: 8, fontWeight: 'bold', color: DEATH.colour }, encoding: { text: { field: 'text' }, y: { value: HEIGHT / 2 } } }
    ]
  }
}

/** Memory of both ends over time, a panel each */
export function memoryChart ({ slowReaders }: LoadReport): TopLevelSpec {
  const title = 'A handler that is slower than the network'
  const most = Math.max(...slowReaders.flatMap(({ samples }) => samples.flatMap(({ sender, receiver }) => [sender, receiver])))

  return {
    title: { text: title, subtitle: ['Memory of the process in MiB, over time in s.'] },
    description: title,
    spacing: 16,
    vconcat: [
      legend(slowReaders.map(({ stack }) => ({ name: NAMES[stack], colour: RIVALS[stack] }))),
      {
        spacing: 32,
        hconcat: (['sender', 'receiver'] as const).map(end => ({
          title: { text: end, fontSize: 12, color: TEXT, frame: 'group' },
          width: 270,
          height: 170,
          data: { values: slowReaders.flatMap(({ stack, samples }) => samples.map(sample => ({ at: sample.at, memory: sample[end], stack, colour: RIVALS[stack] }))) },
          mark: { type: 'line', strokeWidth: 2 },
          encoding: {
            x: { field: 'at', type: 'quantitative', title: null, axis: { grid: false, tickCount: 5 } },
            y: { field: 'memory', type: 'quantitative', title: null, scale: { domain: [0, most] }, axis: { domain: false, ticks: false, tickCount: 5 } },
            color: { field: 'colour', type: 'nominal', scale: null },
            detail: { field: 'stack' }
          }
        }))
      }
    ]
  } as TopLevelSpec
}
