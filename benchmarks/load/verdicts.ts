import { jain, sum } from '../../test/lab/statistics.ts'
import { lineOf } from './run.ts'
import type { LoadReport, LoadRow } from './report.ts'

/** Below that a first window of yamux takes seconds, in Mbit/s */
const LEAST_RATE = 2

/** What a pair achieves over all lines from 2 Mbit/s up */
export interface Verdict {
  dialer: string
  listener: string
  congestion: string
  lines: number
  lived: number
  begun: number
  failed: number

  /** Of a new stream to an echo on an old one, medians, on the line where it is most; a line with one that never opened is left out */
  ratio: number

  /** Of four uploads, on the line where it is least; undefined if four were not measured */
  fairness?: number

  /** Least and median of what arrives as a part of what does with official on the same line, while that lives */
  throughput?: { least: number, median: number }
}

export function verdictsOf ({ rows }: LoadReport): Verdict[] {
  const fast = rows.filter(({ rate, uploads }) => rate >= LEAST_RATE && uploads > 0)
  const pairs = [...new Map(fast.map(row => [`${row.congestion}:${row.dialer}:${row.listener}`, row])).values()]

  return pairs.map(({ dialer, listener, congestion }) => {
    const own = fast.filter(row => row.dialer === dialer && row.listener === listener && row.congestion === congestion)
    const ratios = own.map(ratioOf).filter(Number.isFinite)
    const shares = own.filter(({ arrived }) => arrived.uploads.length > 1).map(({ arrived }) => jain(arrived.uploads))
    const throughputs = own.map(row => throughputOf(row, rows)).filter(ratio => ratio != null).toSorted((a, b) => a - b)

    return {
      dialer,
      listener,
      congestion,
      lines: own.length,
      lived: own.filter(({ error }) => error == null).length,
      begun: sum(own.map(({ stream }) => stream.begun)),
      failed: sum(own.map(({ stream }) => stream.failed)),
      ratio: Math.max(...ratios),
      ...shares.length > 0 ? { fairness: Math.min(...shares) } : {},
      ...throughputs.length > 0 ? { throughput: { least: throughputs[0], median: throughputs[Math.floor(throughputs.length / 2)] } } : {}
    }
  })
}

export function ratioOf ({ echo, stream }: LoadRow): number {
  // NaN is null in a file
  return (stream.p50 ?? NaN) / echo.p50
}

/** What arrives as a part of what does with official on the same line, while that lives */
export function throughputOf (row: LoadRow, rows: LoadRow[]): number | undefined {
  const official = rows.find(other => other.dialer === 'official' && other.listener === 'official' && lineOf(other) === lineOf(row))

  return official == null || official === row ? undefined : row.arrived.early / official.arrived.early
}
