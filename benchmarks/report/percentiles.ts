/**
 * As an HDR histogram lists them
 */
export const PERCENTILES = [50, 75, 90, 99, 99.9, 99.99]

export interface Percentile {
  percent: number

  /**
   * NaN where there are too few samples to know.
   */
  value: number
}

/**
 * The tail of a distribution as an HDR histogram reports it: each value is one
 * that was measured, the least that so many percent of the samples do not
 * exceed, never a point between two. At least one sample must lie beyond a
 * percentile: the "99.9th" of thirty samples would be their maximum by another
 * name.
 *
 * @param samples - in any order
 * @see https://hdrhistogram.github.io/HdrHistogram/
 */
export function percentiles (samples: number[], percents = PERCENTILES): Percentile[] {
  const sorted = samples.toSorted((a, b) => a - b)

  return percents.map(percent => ({
    percent,
    value: isKnown(percent, sorted.length) ? sorted[rank(percent, sorted.length)] : NaN
  }))
}

function isKnown (percent: number, count: number): boolean {
  return count > 0 && rank(percent, count) < count - 1
}

function rank (percent: number, count: number): number {
  // in parts of ten thousand, as 0.999 is not a binary fraction
  return Math.max(0, Math.ceil(Math.round(percent * 100) * count / 10_000) - 1)
}
