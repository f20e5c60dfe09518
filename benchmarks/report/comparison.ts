import { median, percentile } from '../../test/lab/statistics.ts'

/** How many times as much as the other. */
export interface Comparison {
  ratio: number
  p10: number
  p90: number

  /** The rounds do not agree which of the two is more. */
  noisy: boolean
}

/**
 * Compares samples of two contenders round by round: what slowed the machine down
 * for a while slowed both.
 */
export function compare (samples: number[], others: number[]): Comparison | undefined {
  const ratios = samples.slice(0, others.length)
    .map((sample, round) => sample / others[round])
    .filter(Number.isFinite)

  if (ratios.length === 0) {
    return
  }

  const p10 = percentile(ratios, 10)
  const p90 = percentile(ratios, 90)

  return { ratio: median(ratios), p10, p90, noisy: p10 <= 1 && p90 >= 1 }
}

/** Two digits behind the point, `~` before what may be noise, and `-` for nothing */
export function marked (comparison?: Pick<Comparison, 'ratio' | 'noisy'>): string {
  return comparison == null ? '-' : `${comparison.noisy ? '~' : ''}${comparison.ratio.toFixed(2)}`
}
