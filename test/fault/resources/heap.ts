import { setImmediate as nextTurn } from 'node:timers/promises'

/** The heap in bytes without its garbage. Needs --expose-gc, which scenarios run with. */
export async function heapAfterGC (): Promise<number> {
  return (await memoryAfterGC()).heapUsed
}

/** The resident set too says little as long as V8 keeps the pages that it has emptied: after its last resort it does not. */
export async function memoryAfterGC (): Promise<NodeJS.MemoryUsage> {
  // finalisers run in a turn of their own, and may leave garbage themselves
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    await nextTurn()
  }

  return process.memoryUsage()
}
