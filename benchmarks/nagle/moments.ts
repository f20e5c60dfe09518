import { whole } from '../../test/lab/report/numbers.ts'

/** Events near each other in time, which a chart names together */
export interface Moment {
  /** The index of the first of them. */
  first: number
  count: number

  /** Half way between the first and the last. */
  middle: number

  /** Which they are and when they were: `2-10` and below it `5-46 ms`. */
  text: string
}

/**
 * Groups times, in order, that are less than `near` milliseconds after the one
 * before.
 */
export function moments (times: number[], near: number): Moment[] {
  const groups: Array<{ first: number, times: number[] }> = []

  times.forEach((time, index) => {
    const last = groups.at(-1)

    if (last != null && time - (last.times.at(-1) ?? NaN) < near) {
      last.times.push(time)
    } else {
      groups.push({ first: index, times: [time] })
    }
  })

  return groups.map(({ first, times }) => {
    const [from] = times
    const to = times.at(-1) ?? from

    return {
      first,
      count: times.length,
      middle: (from + to) / 2,
      text: `${range(`${first + 1}`, `${first + times.length}`)}\n${range(whole(from), whole(to))} ms`
    }
  })
}

function range (from: string, to: string): string {
  return from === to ? from : `${from}–${to}`
}
