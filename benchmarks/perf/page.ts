import { NAMES } from '../../test/lab/peers/names.ts'
import { provenance } from '../../test/lab/report/environment.ts'
import { ms, short, times } from '../../test/lab/report/numbers.ts'
import { markdownTable, tableOf } from '../../test/lab/report/table.ts'
import { median } from '../../test/lab/statistics.ts'
import { compare } from '../report/comparison.ts'
import type { Listener, PerfReport, RowResult } from './run.ts'
import type { Sample } from './worker.ts'
import type { Results } from '../report/results-old.ts'

const LISTENERS: Record<Listener, string> = {
  itself: 'its own kind',
  official: 'official',
  go: 'go-libp2p 0.51',
  rust: 'rust-libp2p 0.57'
}

export function perfResults (report: PerfReport): Results {
  const { bytes, rounds, rows } = report

  return {
    name: 'perf',
    json: report,
    page: [
      '# /perf/1.0.0',
      `${bytes / 1_048_576} MiB up, then down, on a stream each, over loopback; then the latency of one byte up and one down on a new stream. Medians of ${rounds} alternated ${rounds === 1 ? 'round' : 'rounds'}; in brackets the time as a part of that of official to the same listener in the same round, median and p10 to p90. Dialer and listener are processes of their own.`,
      markdownTable(tableOf(rows.map(row => ({ ...row, official: officialOf(row, report) })), [
        ['dialer', ({ dialer }) => NAMES[dialer], 'left'],
        ['listener', ({ listener }) => LISTENERS[listener], 'left'],
        ['up, MiB/s', ({ up, official }) => rate(bytes, up, official?.up)],
        ['down, MiB/s', ({ down, official }) => rate(bytes, down, official?.down)],
        ['up, processor', ({ up, official }) => processor(up, official?.up)],
        ['down, processor', ({ down, official }) => processor(down, official?.down)],
        ['one byte, ms', ({ latency, official }) => `${ms(median(latency))}${inBrackets(latency, official?.latency)}`]
      ])),
      provenance(report)
    ].join('\n\n'),
    charts: {}
  }
}

/** The same listener dialed by official; to an official listener that is official to its own kind */
function officialOf ({ listener }: RowResult, { rows }: PerfReport): RowResult | undefined {
  return rows.find(row => row.dialer === 'official' && row.listener === (listener === 'official' ? 'itself' : listener))
}

function rate (bytes: number, samples: Sample[], others: Sample[] = []): string {
  const [time, otherTime] = [samples, others].map(list => list.map(({ ms }) => ms))

  return `${short(bytes / 1_048_576 / median(time) * 1_000)}${inBrackets(time, otherTime)}`
}

function processor (samples: Sample[], others: Sample[] = []): string {
  return times(compare(samples.map(({ cpu }) => cpu), others.map(({ cpu }) => cpu))?.ratio ?? NaN)
}

function inBrackets (samples: number[], others: number[] = []): string {
  const comparison = compare(samples, others)

  return comparison == null ? '' : ` (${times(comparison.ratio)}, ${comparison.p10.toFixed(2)} to ${comparison.p90.toFixed(2)})`
}
