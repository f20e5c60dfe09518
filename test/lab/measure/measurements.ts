/** One sample of each metric */
export type Measurements = Array<{ metric: string, unit: string, value: number }>
