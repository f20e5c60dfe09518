import { median, percentile } from '../lab/statistics.ts'
import { isBaselineOf } from './cells.ts'
import type { Cell } from './cells.ts'
import type { Outcome } from './peer-process.ts'
import type { CellRun } from './run-cells.ts'
import type { Link } from '../lab/link/link.ts'

/** What was measured, and nothing that follows from it */
export interface Results {
  dials: number
  runs: number
  cells: CellResult[]

  /** The delayed dials of these were measured twice, because they were over their limit; the second time counts */
  repeated?: Cell[]
  link?: Pick<Link, 'kind' | 'title' | 'shape' | 'roundTrip' | 'hiddenRoundTrips' | 'passedOver'>
}

export interface CellResult {
  cell: Cell

  /** Over loopback, with an echo of many bytes */
  loopback: Outcome[]

  /** Over the delayed link, with an echo of one byte */
  delayed?: Outcome[]
}

export interface CellTiming {
  /** First byte, in ms: median and the 10th and 90th percentile */
  median: number
  p10: number
  p90: number

  /** The median in round trips of the link */
  roundTrips: number

  /** The fastest dial in round trips of the link: load on the machine only ever adds */
  fewestRoundTrips: number

  /** The median as a share of the official transport's, dialing the same listener in the same run */
  ofOfficial?: number
}

/** The first dials over the delayed link warm up and are not measured */
export function mergeRuns (loopback: CellRun[], delayed: CellRun[], warmUps: number): CellResult[] {
  return loopback.map(({ cell, outcomes }, i) => ({
    cell,
    loopback: outcomes,
    delayed: delayed[i]?.outcomes.slice(warmUps)
  }))
}

export function successes (outcomes: Outcome[]): number {
  return outcomes.filter(outcome => outcome.ok).length
}

/**
 * What the delayed dials of a cell tell, if any succeeded.
 */
export function timingOf ({ cell, delayed }: CellResult, { cells, link }: Results): CellTiming | undefined {
  const samples = firstBytes(delayed)
  const official = firstBytes(cells.find(other => isBaselineOf(other.cell, cell))?.delayed)

  if (link == null || samples.length === 0) {
    return
  }

  return {
    median: median(samples),
    p10: percentile(samples, 10),
    p90: percentile(samples, 90),
    roundTrips: median(samples) / link.roundTrip,
    fewestRoundTrips: Math.min(...samples) / link.roundTrip,
    ...(official.length > 0 && cell.dialer === 'ours' ? { ofOfficial: median(samples) / median(official) } : {})
  }
}

/**
 * What of the results is worth keeping: every sample, in lists that a person can
 * look through.
 */
export function toJson ({ cells, ...rest }: Results & object): string {
  const samples = (outcomes: Outcome[]): object => ({
    dials: outcomes.length,
    successes: successes(outcomes),
    firstByteMs: firstBytes(outcomes),
    totalMs: outcomes.flatMap(outcome => outcome.totalMs ?? []),
    errors: outcomes.flatMap(outcome => outcome.error ?? [])
  })
  const compact = cells.map(({ cell, loopback, delayed = [] }) => ({ ...cell, loopback: samples(loopback), delayed: samples(delayed) }))

  return JSON.stringify({ ...rest, cells: compact }, null, 2)
    // a list of numbers stays on its line
    .replaceAll(/\[[\s\d.,]+\]/g, list => list.replaceAll(/\s+/g, ' '))
}

function firstBytes (outcomes: Outcome[] = []): number[] {
  return outcomes.flatMap(outcome => outcome.firstByteMs ?? [])
}
