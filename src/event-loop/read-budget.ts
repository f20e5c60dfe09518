// a test that replaces it must not stop all connections of the process
const { setImmediate } = globalThis

/**
 * How long sockets go on reading in a turn of the event loop, all of them together, in
 * ms: from the first large chunk on, with what the others and promises do meanwhile.
 * Each gets one chunk in any case.
 */
const READ_BUDGET = 10

/** By the clock of `performance.now()`; 0 where nothing large was read yet in this turn */
let deadline = 0

/** Something large is about to be dealt with */
export function spendReadBudget (): void {
  if (deadline === 0) {
    deadline = performance.now() + READ_BUDGET
    setImmediate(renewReadBudget)
  }
}

/** Whether what else is there should wait for a later turn */
export function isReadBudgetSpent (): boolean {
  return deadline !== 0 && performance.now() >= deadline
}

/** A turn is over: timers, and what else comes before sockets are read again, are no part of it */
export function renewReadBudget (): void {
  deadline = 0
}
