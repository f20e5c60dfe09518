import { keepOnOwnCore } from './own-core.ts'
import { startWorker } from './worker.ts'
import type { End } from './own-core.ts'
import type { Tasks } from './serve.ts'
import type { Worker, WorkerInit } from './worker.ts'

export const ENDS: End[] = ['dialer', 'listener']

export type Ends<T extends Tasks> = Record<End, Worker<T>>

/** Starts both, wherever the scheduler puts them, or each pinned to a core of its own. */
export async function startEnds<T extends Tasks> (init: (end: End) => WorkerInit, isPinned = false): Promise<Ends<T>> {
  const [dialer, listener] = await Promise.all(ENDS.map(async end => {
    const worker = await startWorker<T>(init(end))

    if (isPinned) {
      await keepOnOwnCore(end, worker.pid)
    }

    return worker
  }))

  return { dialer, listener }
}

export async function each<T extends Tasks, R> (ends: Ends<T>, use: (end: Worker<T>) => Promise<R>): Promise<Record<End, R>> {
  const [dialer, listener] = await Promise.all([use(ends.dialer), use(ends.listener)])

  return { dialer, listener }
}

export async function endBoth<T extends Tasks> (ends: Ends<T>): Promise<void> {
  await each(ends, async end => end.end())
}
