import type { Pair } from './pair.ts'
import type { Row } from './rows/row.ts'

/**
 * How many operations of a row take about `target` ms, once `warmUp` ms have
 * passed in which code is slow. The number is a round one, so that two runs of the
 * benchmark on one machine do the same work.
 */
export async function calibrate (pair: Pair, row: Row, target: number, warmUp: number): Promise<number> {
  const least = row.minOperations ?? 1
  const most = row.maxOperations ?? Infinity
  let count = 1
  let elapsed = 0

  while (true) {
    const milliseconds = await pair.dialler.ask('run', count)
    const fitting = Math.min(most, Math.max(least, count * target / milliseconds))
    elapsed += milliseconds

    if (elapsed >= warmUp && count >= fitting / 2) {
      return Math.min(most, Math.max(least, roundNumber(fitting)))
    }

    // a slow start says little: grow by steps
    count = Math.ceil(Math.min(fitting, count * 8))
  }
}

/**
 * How many times `operations` of them take about `target` ms, at least once.
 */
export async function calibrateTimes (pair: Pair, operations: number, target: number, warmUp: number): Promise<number> {
  let elapsed = 0

  while (true) {
    const milliseconds = await pair.dialler.ask('run', operations)
    elapsed += milliseconds

    if (elapsed >= warmUp) {
      return Math.max(1, Math.round(target / milliseconds))
    }
  }
}

/**
 * The nearest of 1, 2, 5, 10, 20, 50, ...
 */
export function roundNumber (value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  const candidates = [1, 2, 5, 10].map(digit => digit * power)
  const distance = (candidate: number): number => Math.abs(Math.log(candidate / value))

  return candidates.reduce((best, candidate) => distance(candidate) < distance(best) ? candidate : best)
}
