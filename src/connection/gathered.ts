/** Has accepted bytes that it has not handed down yet */
export interface Gatherer {
  /** Hand down everything that waits */
  flush(): void
}

const NONE: Gatherer[] = []
let waiting = NONE
let openGatherers = 0
let exiting = false

/**
 * Whether the process, or the worker thread, has begun to exit. No microtask runs from
 * then on, so gather nothing more.
 */
export function isExiting (): boolean {
  return exiting
}

/** Call `flush` once before anything goes on that is awaited after this, and at the latest when the process exits. */
export function flushSoon (gatherer: Gatherer): void {
  if (waiting === NONE) {
    waiting = [gatherer]
    queueMicrotask(flushAll)
  } else {
    waiting.push(gatherer)
  }
}

/**
 * A gatherer that may call {@link flushSoon} exists from now on.
 *
 * Node calls no 'exit' listener that was added while it emits 'exit'. So one listener
 * for all gatherers must be there before: as long as any of them is open.
 */
export function openGatherer (): void {
  if (openGatherers++ === 0) {
    process.on('exit', onExit)
  }
}

/** One of those that called {@link openGatherer} is gone. */
export function closeGatherer (): void {
  if (--openGatherers === 0) {
    process.off('exit', onExit)
  }
}

function onExit (): void {
  exiting = true

  // an encrypter hands down to a socket, which gathers no more, or has gathered before
  while (waiting !== NONE) {
    flushAll()
  }
}

function flushAll (): void {
  const gatherers = waiting
  waiting = NONE

  for (const gatherer of gatherers) {
    try {
      gatherer.flush()
    } catch (err) {
      // an uncaught exception, as in a microtask of its own, that keeps nothing of the others back
      queueMicrotask(() => { throw err })
    }
  }
}
