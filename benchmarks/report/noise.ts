import { overlaps } from '../statistics.ts'
import type { Summary } from '../statistics.ts'

export interface Measured {
  name: string
  summary: Summary
}

/**
 * Fewer samples than this have no 10th and 90th percentile to speak of.
 */
const FEWEST_SAMPLES = 5

/**
 * A sentence for each difference that may be noise: the spreads (p10 to p90) of
 * the two overlap, or there are too few samples to tell.
 *
 * @param reference - what the others are compared with
 */
export function noiseWarnings (reference: Measured, others: Measured[]): string[] {
  const few = [reference, ...others]
    .filter(({ summary }) => summary.count < FEWEST_SAMPLES)
    .map(({ name, summary }) => `${name} has ${samples(summary.count)}: its spread says little.`)

  const overlapping = others
    .filter(({ summary }) => summary.count > 0 && overlaps(summary, reference.summary))
    .map(({ name, summary }) => `${name} and ${reference.name} differ by ${difference(summary, reference.summary)} and their spreads (p10 to p90) overlap: the difference may be noise.`)

  return [...few, ...overlapping]
}

function difference (summary: Summary, reference: Summary): string {
  return `${(Math.abs(summary.median / reference.median - 1) * 100).toFixed(1)} %`
}

function samples (count: number): string {
  return count === 1 ? '1 sample' : `${count} samples`
}
