import { median, percentile } from '../lab/statistics.ts'
import { isBaselineOf } from './cells.ts'
import type { Cell } from './cells.ts'
import type { Outcome } from './peer-process.ts'
import type { Link } from '../lab/link/link.ts'
import type { Environment } from '../lab/report/environment.ts'
import type { Versions } from '../lab/report/page.ts'

export interface Results extends Measured {
  environment: Environment
  versions: Versions
}

/** What was measured, and nothing that follows from it */
export interface Measured {
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
  loopback: Dials

  /** Over the delayed link, with an echo of one byte */
  delayed?: Dials
}

/** What became of the dials of a cell: samples in the order of the dials */
export interface Dials {
  dials: number
  successes: number

  /** Dials that were refused at first */
  redialed: number
  firstByteMs: number[]
  totalMs: number[]
  errors: string[]
}

export interface CellTiming {
  /** First byte, in ms: median and the 10th and 90th percentile */
  median: number
  p10: number
  p90: number

  /** The median in round trips of the link */
  roundTrips: number

  /** The median as a share of the official transport's, dialing the same listener in the same run */
  ofOfficial?: number
}

export function dialsOf (outcomes: Outcome[]): Dials {
  return {
    dials: outcomes.length,
    successes: outcomes.filter(({ ok }) => ok).length,
    redialed: outcomes.filter(({ redialed }) => redialed === true).length,
    firstByteMs: outcomes.flatMap(({ firstByteMs }) => firstByteMs ?? []),
    totalMs: outcomes.flatMap(({ totalMs }) => totalMs ?? []),
    errors: outcomes.flatMap(({ error }) => error ?? [])
  }
}

/**
 * What the delayed dials of a cell tell, if any succeeded.
 */
export function timingOf ({ cell, delayed }: CellResult, { cells, link }: Measured): CellTiming | undefined {
  const { firstByteMs: samples } = delayed ?? dialsOf([])
  const { firstByteMs: official } = cells.find(other => isBaselineOf(other.cell, cell))?.delayed ?? dialsOf([])

  if (link == null || samples.length === 0) {
    return
  }

  return {
    median: median(samples),
    p10: percentile(samples, 10),
    p90: percentile(samples, 90),
    roundTrips: median(samples) / link.roundTrip,
    ...(official.length > 0 && cell.dialer === 'ours' ? { ofOfficial: median(samples) / median(official) } : {})
  }
}
