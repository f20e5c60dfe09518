import { serve } from '../process/serve.ts'
import type { Tasks } from '../process/serve.ts'

type Maker = (...parameters: any[]) => Promise<any>

/** What a keeper can be asked */
export type KeeperTasks<Make extends Maker> = {
  make(...parameters: Parameters<Make>): Promise<{ made: Awaited<ReturnType<Make>> } | { failed: string }>
}

/**
 * Makes this process own something that only root can make. It removes that when its channel to the process that asked for it closes, in
 * whatever way that process ended, and on a signal.
 *
 * @param make - makes it
 * @param remove - removes it
 * @param more - what the process can be asked besides, once it has made that
 */
export function keep<Make extends Maker> (make: Make, remove: () => Promise<void>, more: Tasks = {}): void {
  let making: ReturnType<KeeperTasks<Make>['make']> | undefined
  let ending: Promise<void> | undefined

  const tasks: KeeperTasks<Make> = {
    async make (...parameters) {
      if (process.getuid?.() !== 0) {
        return { failed: 'needs root' }
      }

      making = make(...parameters).then(made => ({ made }), err => ({ failed: err.message }))

      return making
    }
  }

  async function removeAndExit (): Promise<void> {
    if (making != null) {
      await making
      await remove()
    }

    process.exit()
  }

  // more than one reason may come
  function end (): void {
    ending ??= removeAndExit()
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, end)
  }

  serve({ ...more, ...tasks }, end)
}
