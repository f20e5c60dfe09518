import { NAMES } from '../contenders/names.ts'
import { provenance } from '../report/environment.ts'
import { short, whole } from '../report/numbers.ts'
import { markdownTable, tableOf } from '../report/table.ts'
import { percentile } from '../statistics.ts'
import type { LoadReport, LoadRow, Wait } from './report.ts'
import type { Results } from '../report/results.ts'

export function loadResults (report: LoadReport): Results {
  return {
    name: 'load',
    json: report,
    page: [
      '# A busy line',
      provenance(report),
      `${report.link}, with a rate and a drop-tail queue in each direction. For ${report.duration} s streams upload 64 KiB messages as fast as they may. Beside them a stream echoes 100 B every 100 ms, a new stream does so every second, and libp2p's ping and connection monitor run at their defaults at both ends. Times are medians, with the longest in brackets; a stream that was not opened in time counts as failed.`,
      markdownTable(tableOf(report.rows, [
        ['Mbit/s', ({ rate }) => `${rate}`],
        ['round trip, ms', ({ roundTrip }) => `${roundTrip}`],
        ['queue, KiB', ({ queue }) => whole(queue / 1024)],
        ['uploads', ({ uploads }) => `${uploads}`],
        ['refill', ({ refill }) => refill, 'left'],
        ['uploader', ({ dialer }) => NAMES[dialer], 'left'],
        ['receiver', ({ listener }) => NAMES[listener], 'left'],
        ['lived, s', ({ lived, error }) => error == null ? `${Math.round(lived / 1000)}` : `**dead at ${(lived / 1000).toFixed(1)}**`],
        ['arrived, Mbit/s', row => short(sum(row.uploaded) * 8 / 1_000 / row.lived)],
        ['echo, ms', row => times(row, 'echo')],
        ['new stream, ms', row => times(row, 'stream')],
        ['failed', row => `${row.waits.filter(wait => wait.kind === 'stream' && hasFailed(wait, row)).length}`],
        ['fairness', ({ uploaded }) => uploaded.length < 2 ? '-' : jain(uploaded).toFixed(3)],
        ['memory, MiB', ({ rss }) => whole(rss / 2 ** 20)]
      ]))
    ].join('\n\n'),
    charts: {}
  }
}

/** Those that began in the last seconds may have had too little time */
const LATE = 5_000

function hasFailed ({ at, ms }: Wait, { lived, error }: LoadRow): boolean {
  return ms == null && (error != null || at < lived - LATE)
}

function times ({ waits }: LoadRow, kind: Wait['kind']): string {
  const all = waits.flatMap(wait => wait.kind === kind && wait.ms != null ? [wait.ms] : [])

  return all.length === 0 ? 'never' : `${whole(percentile(all, 50))} (${whole(percentile(all, 100))})`
}

function sum (numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

/** Jain's index: 1 where all have the same */
export function jain (shares: number[]): number {
  return sum(shares) ** 2 / (shares.length * sum(shares.map(share => share ** 2)))
}
