import { killWorkers } from './start-worker.ts'

/**
 * Runs a suite; Ctrl-C and a polite kill end its workers with it.
 */
export async function interruptible<T> (suite: () => Promise<T>): Promise<T> {
  const onSigint = (): void => { leave(130) }
  const onSigterm = (): void => { leave(143) }

  process.on('SIGINT', onSigint)
  process.on('SIGTERM', onSigterm)

  try {
    return await suite()
  } finally {
    process.off('SIGINT', onSigint)
    process.off('SIGTERM', onSigterm)
  }
}

function leave (code: number): void {
  killWorkers()
  process.exit(code)
}
