import { clearImmediate, setImmediate } from './immediate.ts'

/**
 * Call back after `ms`, but not before the event loop has looked for input once more.
 * After a stall timers run first, while the peer's answer may lie in the kernel already.
 * Node starts a timer at the time that the loop last read the clock, which is stale after a
 * long callback. So the clock is read again. If `isRef` is false, the process may end before.
 *
 * @returns a function that cancels the call
 */
export function afterPoll (ms: number, callback: () => void, isRef = true): () => void {
  const start = performance.now()
  let immediate: NodeJS.Immediate | undefined
  let timer: NodeJS.Timeout

  const wait = (ms: number): void => {
    timer = setTimeout(onTimeout, ms)

    if (!isRef) {
      timer.unref()
    }
  }

  const onTimeout = (): void => {
    const remaining = ms - (performance.now() - start)

    if (remaining >= 1) {
      wait(remaining)
    } else {
      immediate = setImmediate(callback)
    }
  }

  wait(ms)

  return () => {
    clearTimeout(timer)
    clearImmediate(immediate)
  }
}
