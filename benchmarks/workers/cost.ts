import { monitorEventLoopDelay } from 'node:perf_hooks'

/**
 * What a stretch of work cost one process.
 */
export interface Cost {
  /** Microseconds of CPU time */
  user: number
  system: number

  /** Milliseconds that the event loop was late */
  loopDelay: { p50: number, p99: number, max: number }
}

/**
 * Tasks that measure what happens between them
 */
export type CostTasks = {
  costStart(): void
  costEnd(): Cost
}

const RESOLUTION = 2

export function costTasks (): CostTasks {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION })
  let cpu = process.cpuUsage()

  // a timer is late by what it was meant to wait too
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION)

  return {
    costStart (): void {
      delay.reset()
      delay.enable()
      cpu = process.cpuUsage()
    },

    costEnd (): Cost {
      const { user, system } = process.cpuUsage(cpu)
      delay.disable()

      return {
        user,
        system,
        loopDelay: {
          p50: late(delay.percentile(50)),
          p99: late(delay.percentile(99)),
          max: late(delay.max)
        }
      }
    }
  }
}
