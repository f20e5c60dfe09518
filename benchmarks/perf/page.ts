import { NAMES } from '../contenders/names.ts'
import { compare } from '../report/comparison.ts'
import { provenance } from '../report/environment.ts'
import { ms, short, times } from '../report/numbers.ts'
import { markdownTable } from '../report/table.ts'
import { median } from '../statistics.ts'
import { perfChart } from './chart.ts'
import type { Listener, PerfReport, RowResult } from './run.ts'
import type { Sample } from './worker.ts'
import type { Results } from '../report/results.ts'

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
      `${bytes / 1_048_576} MiB up, then down, on a stream each, over loopback; then the latency of one byte up and one down on a new stream. Medians of ${rounds} alternated ${rounds === 1 ? 'round' : 'rounds'}; in brackets the time as a part of that of official to the same listener in the same round, median and p10 to p90. Dialler and listener are processes of their own.`,
      markdownTable({
        columns: [{ title: 'dialler', align: 'left' }, { title: 'listener', align: 'left' }, { title: 'up, MiB/s' }, { title: 'down, MiB/s' }, { title: 'up, processor' }, { title: 'down, processor' }, { title: 'one byte, ms' }],
        rows: rows.map(row => {
          const official = officialOf(row, report)
          const rate = (samples: Sample[], others?: Sample[]): string => {
            const time = samples.map(({ ms }) => ms)

            return `${short(bytes / 1_048_576 / median(time) * 1_000)}${inBrackets(time, others?.map(({ ms }) => ms))}`
          }
          const processor = (samples: Sample[], others: Sample[] = []): string => times(compare(samples.map(({ cpu }) => cpu), others.map(({ cpu }) => cpu))?.ratio ?? NaN)

          return [
            NAMES[row.dialler],
            LISTENERS[row.listener],
            rate(row.up, official?.up),
            rate(row.down, official?.down),
            processor(row.up, official?.up),
            processor(row.down, official?.down),
            `${ms(median(row.latency))}${inBrackets(row.latency, official?.latency)}`
          ]
        })
      }),
      provenance(report)
    ].join('\n\n'),
    charts: { perf: perfChart(report) }
  }
}

/** The same listener dialled by official; to an official listener that is official to its own kind */
function officialOf ({ listener }: RowResult, { rows }: PerfReport): RowResult | undefined {
  return rows.find(row => row.dialler === 'official' && row.listener === (listener === 'official' ? 'itself' : listener))
}

function inBrackets (samples: number[], others: number[] = []): string {
  const comparison = compare(samples, others)

  return comparison == null ? '' : ` (${times(comparison.ratio)}, ${comparison.p10.toFixed(2)} to ${comparison.p90.toFixed(2)})`
}
