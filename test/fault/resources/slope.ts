export interface Sample {
  ms: number
  bytes: number
}

/**
 * How many bytes a ms are gained: the median of the slopes between any two samples. A leak is in nearly all of these; a step that a
 * process takes once, for a page of code or a stack of a thread, is in few.
 *
 * @see https://en.wikipedia.org/wiki/Theil%E2%80%93Sen_estimator
 */
export function slope (samples: Sample[]): number {
  const slopes = samples.flatMap((from, index) => samples.slice(index + 1).map(to => (to.bytes - from.bytes) / (to.ms - from.ms)))

  return slopes.toSorted((a, b) => a - b)[Math.floor(slopes.length / 2)]
}
