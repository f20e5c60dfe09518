/**
 * One sample of each metric
 */
export type Measurements = Array<{ metric: string, unit: string, value: number }>

/**
 * Of several measurements of the same metrics, what `summed` makes of each metric's
 * values: the median, say.
 */
export function combined (repetitions: Measurements[], summed: (values: number[]) => number): Measurements {
  return repetitions[0].map(({ metric, unit }) => ({
    metric,
    unit,
    value: summed(repetitions.flatMap(measurements => measurements.filter(one => one.metric === metric)).map(({ value }) => value))
  }))
}
