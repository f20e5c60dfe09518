import { setImmediate as nextTurn } from 'node:timers/promises'

/**
 * The heap in bytes without its garbage. Needs --expose-gc, which scenarios run with.
 */
export async function heapAfterGC (): Promise<number> {
  // finalisers run in a turn of their own, and may leave garbage themselves
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.()
    await nextTurn()
  }

  return process.memoryUsage().heapUsed
}
