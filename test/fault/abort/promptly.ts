import { setImmediate as nextTurn } from 'node:timers/promises'

/** A turn of the event loop that takes longer than this is the machine's doing, in ms */
const LONG_TURN = 5

/** Measures how long the code under test lets us wait: turns of the event loop that a busy machine draws out do not count. */
export class Stopwatch {
  #running = false
  #start = 0
  #last = 0
  #longTurns = 0

  start (): void {
    this.#running = true
    this.#start = performance.now()
    this.#last = this.#start
    this.#longTurns = 0
    this.#watch()
  }

  /** @returns ms since `start` */
  stop (): number {
    this.#turn()
    this.#running = false

    return performance.now() - this.#start - this.#longTurns
  }

  #watch (): void {
    setImmediate(() => {
      if (this.#running) {
        this.#turn()
        this.#watch()
      }
    })
  }

  #turn (): void {
    const now = performance.now()
    const took = now - this.#last

    this.#longTurns += took > LONG_TURN ? took : 0
    this.#last = now
  }
}

export type Handles = Record<string, number>

/** What may keep the process alive: sockets, servers, pipes, look-ups and timers */
export function handles (): Handles {
  const counts: Handles = {}

  for (const name of process.getActiveResourcesInfo().sort()) {
    if (/TCP|Pipe|GetAddrInfo|Timeout/.test(name)) {
      counts[name] = (counts[name] ?? 0) + 1
    }
  }

  return counts
}

/**
 * Waits without a timer of its own
 *
 * @throws {Error} if there are more handles than before
 */
export async function nothingLeft (before: Handles, within = 1_000): Promise<void> {
  const deadline = performance.now() + within

  while (true) {
    const left = Object.entries(handles())
      .filter(([name, count]) => count > (before[name] ?? 0))
      .map(([name]) => name)

    if (left.length === 0) {
      return
    }

    if (performance.now() > deadline) {
      throw new Error(`left behind: ${left.join(', ')}`)
    }

    await nextTurn()
  }
}
