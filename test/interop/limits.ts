import { nameOf } from './cells.ts'
import { timingOf } from './results.ts'
import type { Cell, Optimism } from './cells.ts'
import type { CellResult, Dials, Measured } from './results.ts'

interface Limit {
  roundTrips: number

  /** Of what the official transport takes to the same listener */
  ofOfficial?: number
}

/** What issue 3 promises of the median, to every listener */
const LIMITS: Partial<Record<Optimism, Limit>> = {
  all: { roundTrips: 3.4, ofOfficial: 0.66 },
  known: { roundTrips: 3.4, ofOfficial: 0.66 }
}

/** A rust listener negotiates its muxer on its own, which is the decorators' to save */
const TRANSPORT_LIMIT: Limit = { roundTrips: 4.4 }

/** What no load on the machine explains, in words */
export function faults ({ cells, link }: Measured): string[] {
  return cells.flatMap(({ cell, loopback, delayed }) => [
    ...faultsOf(cell, loopback).map(fault => `loopback: ${nameOf(cell)}: ${fault}`),
    ...delayed == null ? [] : faultsOf(cell, delayed, link).map(fault => `delayed: ${nameOf(cell)}: ${fault}`)
  ])
}

/**
 * Dials that failed, and a cell in which even the fastest dial took more round trips of
 * the delayed link than it may: load only ever adds.
 */
export function faultsOf (cell: Cell, { dials, successes, redialed, firstByteMs, errors }: Dials, link?: Measured['link']): string[] {
  const found: string[] = []
  const limit = limitOf(cell, link)
  const fewest = Math.min(...firstByteMs) / (link?.roundTrip ?? NaN)

  if (successes < dials) {
    found.push(`${dials - successes} of ${dials} dials failed: ${[...new Set(errors)].join('; ')}`)
  }

  if (redialed > 0) {
    found.push(`${redialed} of ${dials} dials were refused at first and dialed again`)
  }

  if (limit != null && Number.isFinite(fewest) && fewest > limit.roundTrips) {
    found.push(`${fewest.toFixed(2)} round trips at least, more than ${limit.roundTrips}`)
  }

  return found
}

/** What is over its limit in the median, in words. It may be the machine's doing */
export function excesses (results: Measured): string[] {
  return results.cells.flatMap(result => excessesOf(result, results).map(excess => `${nameOf(result.cell)}: ${excess}`))
}

export function excessesOf (result: CellResult, results: Measured): string[] {
  const limit = limitOf(result.cell, results.link)
  const timing = timingOf(result, results)
  const found: string[] = []

  if (limit == null || timing == null) {
    return found
  }

  if (timing.roundTrips > limit.roundTrips) {
    found.push(`${timing.roundTrips.toFixed(2)} round trips, more than ${limit.roundTrips}`)
  }

  if (limit.ofOfficial != null && timing.ofOfficial != null && timing.ofOfficial > limit.ofOfficial) {
    found.push(`${timing.ofOfficial.toFixed(2)} of what the official transport takes, more than ${limit.ofOfficial}`)
  }

  return found
}

function limitOf ({ optimism, identify, listener }: Cell, link: Measured['link']): Limit | undefined {
  // a link that hides round trips tells too little of the rest. To official it is 3 or 4, as the listener's packets happen
  // to fit into its congestion window: the report explains it
  if (link?.hiddenRoundTrips !== 0 || (identify === true && listener === 'official')) {
    return
  }

  if (optimism === 'transport') {
    return listener === 'rust' ? undefined : TRANSPORT_LIMIT
  }

  return optimism == null ? undefined : LIMITS[optimism]
}
