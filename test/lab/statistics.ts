export interface Summary {
  count: number
  min: number
  max: number
  median: number
  average: number
  p10: number
  p90: number
}

export function summarise (samples: number[]): Summary {
  return {
    count: samples.length,
    min: percentile(samples, 0),
    max: percentile(samples, 100),
    median: median(samples),
    average: average(samples),
    p10: percentile(samples, 10),
    p90: percentile(samples, 90)
  }
}

export function average (samples: number[]): number {
  return samples.reduce((sum, sample) => sum + sample, 0) / samples.length
}

export function median (samples: number[]): number {
  return percentile(samples, 50)
}

/**
 * The standard error of the median of samples, as a part of their average: that of the average, times what a median of normally
 * distributed samples has more of it. Infinite of less than two samples.
 */
export function errorOfMedian (samples: number[]): number {
  const mean = average(samples)
  const variance = samples.reduce((sum, sample) => sum + (sample - mean) ** 2, 0) / (samples.length - 1)

  return samples.length < 2 ? Infinity : Math.sqrt(Math.PI / 2 * variance / samples.length) / mean
}

/**
 * Interpolates between the two samples that lie around the percentile. NaN of no samples.
 *
 * @param samples - in any order
 * @param percent - 0 to 100
 */
export function percentile (samples: number[], percent: number): number {
  if (samples.length === 0) {
    return NaN
  }

  const sorted = samples.toSorted((a, b) => a - b)
  const position = (sorted.length - 1) * percent / 100
  const below = Math.floor(position)
  const above = Math.ceil(position)

  return sorted[below] + (sorted[above] - sorted[below]) * (position - below)
}

/** True where the spreads (p10 to p90) of two summaries overlap: a difference of their medians may be noise. */
export function overlaps (a: Summary, b: Summary): boolean {
  return a.p10 <= b.p90 && b.p10 <= a.p90
}

export function sum (numbers: number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0)
}

/** Jain's index of fairness: 1 where all have the same, 1/n where one of n has all */
export function jain (shares: number[]): number {
  return sum(shares) ** 2 / (shares.length * sum(shares.map(share => share ** 2)))
}

/** The slope of the line through points (least squares) and its standard error. NaN of less than three points */
export function slopeOf (points: Array<[x: number, y: number]>): { slope: number, error: number } {
  const [meanX, meanY] = [0, 1].map(i => average(points.map(point => point[i])))
  const square = sum(points.map(([x]) => (x - meanX) ** 2))
  const slope = sum(points.map(([x, y]) => (x - meanX) * (y - meanY))) / square
  const rest = sum(points.map(([x, y]) => (y - meanY - slope * (x - meanX)) ** 2))

  return points.length < 3 ? { slope: NaN, error: NaN } : { slope, error: Math.sqrt(rest / (points.length - 2) / square) }
}
