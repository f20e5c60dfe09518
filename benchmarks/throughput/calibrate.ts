import { median } from '../../test/lab/statistics.ts'
import type { Pair } from './pair.ts'
import type { Row } from './rows/row.ts'

/** An odd number, so that a hiccup of the machine is not in it */
const GOES = 3

const STEP = 4

/**
 * How many operations of a row take about `target` ms, once `warmUp` ms have
 * passed in which code is slow. The number is a round one, so that it is the same in
 * two runs of the benchmark on one machine.
 */
export async function calibrate (pair: Pair, row: Row, target: number, warmUp: number): Promise<number> {
  const least = row.minOperations ?? 1
  const most = row.maxOperations ?? Infinity
  let count = 1
  let elapsed = 0

  while (true) {
    const milliseconds = await pair.dialer.ask('run', count)
    const fitting = Math.min(most, Math.max(least, count * target / milliseconds))
    elapsed += milliseconds

    if (elapsed >= warmUp && count >= fitting / 2) {
      return Math.min(most, Math.max(least, roundNumber(fitting)))
    }

    // a slow start says little: grow by steps
    count = Math.ceil(Math.min(fitting, count * 8))
  }
}

/** How long so many operations take, in ms: the median of some goes, after `warmUp` ms. */
export async function timeGo (pair: Pair, operations: number, warmUp: number): Promise<number> {
  let elapsed = 0

  while (elapsed < warmUp) {
    elapsed += await pair.dialer.ask('run', operations)
  }

  const goes: number[] = []

  while (goes.length < GOES) {
    goes.push(await pair.dialer.ask('run', operations))
  }

  return median(goes)
}

/**
 * How many times as much work as the slowest one does who takes `go` ms where that
 * takes `slowest`: about as much more as it is faster, in steps of 4. Who is not twice
 * as fast does as much, since what is collected as garbage takes less and less time
 * the more a process has done.
 */
export function timesAsMuch (go: number, slowest: number): number {
  return STEP ** Math.round(Math.log(slowest / go) / Math.log(STEP))
}

/** The nearest of 1, 2, 5, 10, 20, 50, ... */
export function roundNumber (value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  const candidates = [1, 2, 5, 10].map(digit => digit * power)
  const distance = (candidate: number): number => Math.abs(Math.log(candidate / value))

  return candidates.reduce((best, candidate) => distance(candidate) < distance(best) ? candidate : best)
}
