import { provenance } from '../report/environment.ts'
import { ms, short, times } from '../report/numbers.ts'
import { markdownTable } from '../report/table.ts'
import { median, percentile } from '../statistics.ts'
import { perfChart } from './chart.ts'
import type { Listener, PerfReport, RowResult } from './run.ts'
import type { JsPeer } from './worker.ts'
import type { Results } from '../report/results.ts'

export const DIALLERS: Record<JsPeer, string> = {
  official: '@libp2p/tcp 11',
  transport: 'libp2p-fast-tcp, tcp() alone',
  ours: 'libp2p-fast-tcp, tcp() and optimistic()'
}

const LISTENERS: Record<Listener, string> = {
  itself: 'its own kind',
  official: '@libp2p/tcp 11',
  go: 'go-libp2p 0.51',
  rust: 'rust-libp2p 0.57'
}

export function perfResults (report: PerfReport): Results {
  const { bytes, rounds, rows, environment } = report

  return {
    name: 'perf',
    json: report,
    page: [
      '# /perf/1.0.0',
      `${bytes / 1_048_576} MiB up, then down, on a stream each, over loopback; then the latency of one byte up and one down on a new stream. Medians of ${rounds} alternated ${rounds === 1 ? 'round' : 'rounds'}; in brackets the time as a part of that of official to the same listener in the same round, median and p10 to p90. Dialler and listener are processes of their own.`,
      markdownTable({
        columns: [{ title: 'dialler', align: 'left' }, { title: 'listener', align: 'left' }, { title: 'up, MiB/s' }, { title: 'down, MiB/s' }, { title: 'up, processor' }, { title: 'down, processor' }, { title: 'one byte, ms' }],
        rows: rows.map(row => [
          DIALLERS[row.dialler],
          LISTENERS[row.listener],
          rate(row, 'up', report),
          rate(row, 'down', report),
          times(median(ratios(row.up.map(({ cpu }) => cpu), officialOf(row, report)?.up.map(({ cpu }) => cpu)))),
          times(median(ratios(row.down.map(({ cpu }) => cpu), officialOf(row, report)?.down.map(({ cpu }) => cpu)))),
          `${ms(median(row.latency))}${inBrackets(ratios(row.latency, officialOf(row, report)?.latency))}`
        ])
      }),
      provenance(environment)
    ].join('\n\n'),
    charts: { perf: perfChart(report) }
  }
}

function rate (row: RowResult, direction: 'up' | 'down', report: PerfReport): string {
  const samples = row[direction].map(({ ms }) => ms)

  return `${short(report.bytes / 1_048_576 / median(samples) * 1_000)}${inBrackets(ratios(samples, officialOf(row, report)?.[direction].map(({ ms }) => ms)))}`
}

/** The same listener dialled by official; to an official listener that is official to its own kind */
function officialOf ({ listener }: RowResult, { rows }: PerfReport): RowResult | undefined {
  return rows.find(row => row.dialler === 'official' && row.listener === (listener === 'official' ? 'itself' : listener))
}

function ratios (samples: number[], official: number[] = []): number[] {
  return samples.map((sample, i) => sample / official[i]).filter(ratio => Number.isFinite(ratio))
}

function inBrackets (ratios: number[]): string {
  return ratios.length === 0 ? '' : ` (${times(median(ratios))}, ${percentile(ratios, 10).toFixed(2)} to ${percentile(ratios, 90).toFixed(2)})`
}
