import { setImmediate } from './immediate.ts'

/** Gathers a batch: bytes that it has accepted and not handed down yet */
export interface Batcher {
  flush(): void
}

const NONE: Batcher[] = []
let waiting = NONE
let late = NONE
let openBatchers = 0
let exiting = false

/**
 * Whether the process, or the worker thread, has begun to exit. No microtask runs from
 * then on, so gather nothing more.
 */
export function isExiting (): boolean {
  return exiting
}

/**
 * Call `flush` once, in a microtask: before anything continues that is awaited after
 * this, and at the latest when the process exits.
 */
export function flushSoon (batcher: Batcher): void {
  if (waiting === NONE) {
    waiting = [batcher]
    queueMicrotask(flushAll)
  } else {
    waiting.push(batcher)
  }
}

/**
 * Call `flush` once, when this turn of the event loop has read all that has arrived, and at the
 * latest when {@link flushLate} is called or the process exits.
 */
export function flushAtEndOfTurn (batcher: Batcher): void {
  if (late === NONE) {
    late = [batcher]
    setImmediate(flushLate)
  } else {
    late.push(batcher)
  }
}

/** Flush everything that waits for the end of the turn */
export function flushLate (): void {
  const batchers = late
  late = NONE
  flushEach(batchers)
}

/**
 * A batcher that may call {@link flushSoon} exists from now on.
 *
 * Node calls no 'exit' listener that was added while it emits 'exit'. So one listener
 * for all batchers must be there before: as long as any of them is open.
 */
export function openBatcher (): void {
  if (openBatchers++ === 0) {
    globalThis.process?.on?.('exit', onExit)
  }
}

/** One of those that called {@link openBatcher} is gone. */
export function closeBatcher (): void {
  if (--openBatchers === 0) {
    globalThis.process?.off?.('exit', onExit)
  }
}

function onExit (): void {
  exiting = true

  // an encrypter's batch goes to a socket, which may have one that waits
  while (late !== NONE || waiting !== NONE) {
    flushLate()
    flushAll()
  }
}

function flushAll (): void {
  const batchers = waiting
  waiting = NONE
  flushEach(batchers)
}

function flushEach (batchers: Batcher[]): void {
  for (const batcher of batchers) {
    try {
      batcher.flush()
    } catch (err) {
      // becomes an uncaught exception, but the other batches are still flushed
      queueMicrotask(() => { throw err })
    }
  }
}
