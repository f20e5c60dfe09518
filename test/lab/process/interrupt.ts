import { constants } from 'node:os'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const CLEAN_UP_TIMEOUT = 5_000

const cleanUps = new Set<() => Promise<void>>()
let stopping = false

/** Runs a function to its end, and `cleanUp` whatever happens: it returns, it throws, or a signal ends the process. */
export async function withCleanUp <T> (cleanUp: () => Promise<void>, fn: () => Promise<T>): Promise<T> {
  listen()
  cleanUps.add(cleanUp)

  try {
    return await fn()
  } finally {
    // the signal's handler cleans up and ends the process
    await unlessStopping()
    cleanUps.delete(cleanUp)
    await cleanUp()
  }
}

/** Never resolves once a signal has come: what begins then would not be cleaned up. */
export async function unlessStopping (): Promise<void> {
  if (stopping) {
    await new Promise(() => {})
  }
}

function listen (): void {
  if (cleanUps.size === 0) {
    SIGNALS.forEach(signal => {
      process.removeListener(signal, stop)
      process.on(signal, stop)
    })
  }
}

function stop (signal: typeof SIGNALS[number]): void {
  const status = 128 + constants.signals[signal]

  if (stopping) {
    // asked twice; what is left goes with our channels to it
    process.exit(status)
  }

  stopping = true
  setTimeout(() => process.exit(status), CLEAN_UP_TIMEOUT)
  void Promise.allSettled([...cleanUps].map(async cleanUp => cleanUp())).then(() => process.exit(status))
}
