import { PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Bytes */
export interface Memory {
  heap: number

  /** Buffers, which lie outside the heap */
  external: number
  rss: number
}

export interface Allocation {
  allocated: Memory
  retained: Memory

  /** How often garbage was collected: what was allocated is known if never */
  collections: number
}

/** Tasks that measure memory. The process runs with --expose-gc. */
export type MemoryTasks = {
  /** What is left once the garbage is gone. */
  memoryInUse(): Promise<Memory>
  allocationStart(): Promise<void>
  allocationEnd(): Promise<Allocation>
}

export function memoryTasks (): MemoryTasks {
  let collections = 0
  let before = memory()

  const observer = new PerformanceObserver(list => { collections += list.getEntries().length })

  return {
    async memoryInUse (): Promise<Memory> {
      await collect()

      return memory()
    },

    async allocationStart (): Promise<void> {
      await collect()
      observer.observe({ entryTypes: ['gc'] })
      collections = 0
      before = memory()
    },

    async allocationEnd (): Promise<Allocation> {
      const allocated = difference(memory(), before)
      // entries are handed over a turn later
      await nextTurn()
      collections += observer.takeRecords().length
      observer.disconnect()
      const counted = collections
      await collect()

      return { allocated, retained: difference(memory(), before), collections: counted }
    }
  }
}

/** Weak references and finalizers take more than one turn. */
async function collect (): Promise<void> {
  if (globalThis.gc == null) {
    throw new Error('This process cannot collect its garbage: it lacks --expose-gc')
  }

  for (let i = 0; i < 3; i++) {
    await nextTurn()
    globalThis.gc()
  }
}

function memory (): Memory {
  const { heapUsed, external, rss } = process.memoryUsage()

  return { heap: heapUsed, external, rss }
}

function difference (a: Memory, b: Memory): Memory {
  return { heap: a.heap - b.heap, external: a.external - b.external, rss: a.rss - b.rss }
}
