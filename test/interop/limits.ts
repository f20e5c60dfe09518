import { nameOf } from './cells.ts'
import { successes, timingOf } from './results.ts'
import type { Optimism } from './cells.ts'
import type { Outcome } from './peer-process.ts'
import type { CellResult, Results } from './results.ts'

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

/**
 * Everything that keeps the matrix from passing, in words.
 */
export function complaints (results: Results): string[] {
  return results.cells.flatMap(result => [
    ...failures(result, result.loopback, 'loopback'),
    ...failures(result, result.delayed ?? [], 'delayed'),
    ...excesses(result, results)
  ])
}

/**
 * What no load on the machine explains, in words: dials that failed, and cells
 * in which even the fastest dial took more round trips than it may.
 */
export function faults (results: Results): string[] {
  return results.cells.flatMap(result => [
    ...failures(result, result.loopback, 'loopback'),
    ...failures(result, result.delayed ?? [], 'delayed'),
    ...slow(result, results)
  ])
}

function slow (result: CellResult, results: Results): string[] {
  const limit = limitOf(result)
  const timing = timingOf(result, results)

  if (limit == null || timing == null || results.link?.hiddenRoundTrips !== 0 || timing.fewestRoundTrips <= limit.roundTrips) {
    return []
  }

  return [`${nameOf(result.cell)}: ${timing.fewestRoundTrips.toFixed(2)} round trips at least, more than ${limit.roundTrips}`]
}

function failures ({ cell }: CellResult, outcomes: Outcome[], link: string): string[] {
  const failed = outcomes.length - successes(outcomes)
  const redialed = outcomes.filter(outcome => outcome.redialed === true).length
  const found: string[] = []

  if (failed > 0) {
    const reasons = new Set(outcomes.flatMap(outcome => outcome.error ?? []))
    found.push(`${nameOf(cell)}, ${link}: ${failed} of ${outcomes.length} dials failed: ${[...reasons].join('; ')}`)
  }

  if (redialed > 0) {
    found.push(`${nameOf(cell)}, ${link}: ${redialed} of ${outcomes.length} dials were refused at first and dialed again`)
  }

  return found
}

/**
 * What of a cell is over its limit, in words.
 */
export function excesses (result: CellResult, results: Results): string[] {
  const limit = limitOf(result)
  const timing = timingOf(result, results)
  const found: string[] = []

  // a link that hides round trips tells too little of the rest
  if (limit == null || timing == null || results.link?.hiddenRoundTrips !== 0) {
    return found
  }

  if (timing.roundTrips > limit.roundTrips) {
    found.push(`${nameOf(result.cell)}: ${timing.roundTrips.toFixed(2)} round trips, more than ${limit.roundTrips}`)
  }

  if (limit.ofOfficial != null && timing.ofOfficial != null && timing.ofOfficial > limit.ofOfficial) {
    found.push(`${nameOf(result.cell)}: ${timing.ofOfficial.toFixed(2)} of what the official transport takes, more than ${limit.ofOfficial}`)
  }

  return found
}

function limitOf ({ cell: { optimism, identify, listener } }: CellResult): Limit | undefined {
  // 3 or 4, as the listener's packets happen to fit into its congestion window: the report explains it
  if (identify === true && listener === 'official') {
    return
  }

  if (optimism === 'transport') {
    return listener === 'rust' ? undefined : TRANSPORT_LIMIT
  }

  return optimism == null ? undefined : LIMITS[optimism]
}
