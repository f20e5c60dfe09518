import { LoopWatch } from './loop-delay.ts'
import type { P50AndP99 } from './percentiles.ts'

/** What a stretch of work cost one process, in microseconds of CPU time */
export interface Cost {
  user: number
  system: number
}

/** Tasks that measure what happens between `costStart` and `costEnd` */
export type CostTasks = {
  /** `watchesLoop`: with a timer of 2 ms, which costs something itself */
  costStart(watchesLoop?: boolean): void
  costEnd(): Cost

  /** How late the event loop was, in all such stretches since this was asked last */
  loopDelay(): P50AndP99
}

export function costTasks (): CostTasks {
  const watch = new LoopWatch()
  let cpu = process.cpuUsage()

  return {
    costStart (watchesLoop = false): void {
      if (watchesLoop) {
        watch.start()
      }

      cpu = process.cpuUsage()
    },

    costEnd (): Cost {
      const { user, system } = process.cpuUsage(cpu)
      watch.stop()

      return { user, system }
    },

    loopDelay: () => watch.take()
  }
}
