export interface Sample {
  ms: number
  bytes: number
}

/**
 * How many bytes a ms are gained, by the line through the samples that fits best
 */
export function slope (samples: Sample[]): number {
  const mean = (of: (sample: Sample) => number): number => samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length
  const ms = mean(sample => sample.ms)
  const bytes = mean(sample => sample.bytes)

  return mean(sample => (sample.ms - ms) * (sample.bytes - bytes)) / mean(sample => (sample.ms - ms) ** 2)
}
