import type { CounterGroup } from '@libp2p/interface'

/** Metrics of others may throw in the midst of a dial or of a socket's event, and no caller can help it: the number is lost */
export function tell (report: () => void): void {
  try {
    report()
  } catch {
    // nobody else wants it
  }
}

/** A group that never throws. None without metrics */
export function safeCounters <T extends string> (group: CounterGroup<T>): CounterGroup<T>
export function safeCounters <T extends string> (group?: CounterGroup<T>): CounterGroup<T> | undefined
export function safeCounters <T extends string> (group?: CounterGroup<T>): CounterGroup<T> | undefined {
  return group == null
    ? undefined
    : {
        increment: values => { tell(() => { group.increment(values) }) },
        reset: () => { tell(() => { group.reset() }) }
      }
}
