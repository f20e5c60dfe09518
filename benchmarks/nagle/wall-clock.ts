import { performance } from 'node:perf_hooks'

/**
 * Milliseconds since 1970 to a few microseconds: the clock of a packet capture,
 * and the same in every process of a machine. `Date.now()` has whole
 * milliseconds, and `performance.timeOrigin` was read before the process had
 * started up.
 */
export function wallClock (): () => number {
  const before = Date.now()
  let tick = before

  // at most a millisecond
  while (tick === before) {
    tick = Date.now()
  }

  const offset = tick - performance.now()

  return () => performance.now() + offset
}
