import { average } from '../statistics.ts'

/** One sample of each metric */
export type Measurements = Array<{ metric: string, unit: string, value: number }>

/**
 * Of several measurements of the same metrics, each metric's average. What takes turns of its own, such as a collection of garbage, is in
 * some of them only, and counts as much as it would if they had been one.
 */
export function averages (repetitions: Measurements[]): Measurements {
  return repetitions[0].map(({ metric, unit }) => ({
    metric,
    unit,
    value: average(repetitions.flatMap(measurements => measurements.filter(one => one.metric === metric)).map(({ value }) => value))
  }))
}
