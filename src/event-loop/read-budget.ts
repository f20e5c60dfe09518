import { setImmediate } from './immediate.ts'

/**
 * How long all sockets together go on reading in a turn of the event loop, in ms. It counts
 * from the first large chunk on, other work included. Each socket reads one chunk in any case.
 */
const READ_BUDGET = 10

/** By the clock of `performance.now()`; 0 until something large is read in this turn */
let deadline = 0

/** Something large is about to be dealt with */
export function spendReadBudget (): void {
  if (deadline === 0) {
    deadline = performance.now() + READ_BUDGET
    setImmediate(renewReadBudget)
  }
}

/** Whether a socket should leave the rest of its input for a later turn */
export function isReadBudgetSpent (): boolean {
  return deadline !== 0 && performance.now() >= deadline
}

/** A turn is over. What runs before sockets are read again, such as timers, does not count */
export function renewReadBudget (): void {
  deadline = 0
}
