import { median } from './statistics.ts'

/**
 * One sample of each metric
 */
export type Measurements = Array<{ metric: string, unit: string, value: number }>

/**
 * Of several measurements of the same metrics, each metric's median.
 */
export function medians (repetitions: Measurements[]): Measurements {
  return repetitions[0].map(({ metric, unit }) => ({
    metric,
    unit,
    value: median(repetitions.flatMap(measurements => measurements.filter(one => one.metric === metric)).map(({ value }) => value))
  }))
}
