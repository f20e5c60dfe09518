import { say } from '../process/say.ts'
import type { SuiteContext } from './run-suite.ts'

export interface Cell<T> {
  name: string

  /** What to type to run it alone */
  again: string
  run(signal: AbortSignal): Promise<T>
}

export interface Verdict {
  /** Such as `5 of 5` */
  summary: string

  /** What did not go as promised */
  complaints?: string[]
}

/**
 * Runs cells in their order. Prints a line for each that has ended. For one that failed it also prints the command that runs it alone.
 * Throws what the first cell throws: no other is begun then, and those that run have ended.
 *
 * @param cells - what to run
 * @param signal - ends the run
 * @param judge - says how a cell went
 * @param concurrency - cells at a time; 1 where time matters
 * @returns what each returned
 */
export async function runCells <T> (cells: Array<Cell<T>>, signal: AbortSignal, judge: (result: T) => Verdict, concurrency = 1): Promise<T[]> {
  const results: T[] = []
  let next = 0
  let done = 0

  async function run (i: number): Promise<void> {
    const { name, again, run } = cells[i]
    const start = performance.now()

    try {
      results[i] = await run(signal)
      signal.throwIfAborted()
    } catch (err) {
      next = cells.length

      if (!signal.aborted) {
        say(`FAILED ${name}\n  again: ${again}`)
      }

      throw err
    }

    const { summary, complaints = [] } = judge(results[i])

    say(`${++done}/${cells.length} ${name}: ${summary}, ${((performance.now() - start) / 1_000).toFixed(1)} s`)
    complaints.forEach(complaint => { say(`  ${complaint}`) })

    if (complaints.length > 0) {
      say(`  again: ${again}`)
    }
  }

  const workers = await Promise.allSettled(Array.from({ length: concurrency }, async () => {
    signal.throwIfAborted()

    while (next < cells.length) {
      await run(next++)
    }
  }))
  const failed = workers.find(worker => worker.status === 'rejected')

  if (failed != null) {
    throw failed.reason
  }

  return results
}

/** Runs cells that judge themselves and can be chosen by their names. Returns the names of those that did not go as promised. */
export async function failedCells (cells: Array<Pick<Cell<Verdict>, 'name' | 'run'>>, { signal, again }: Pick<SuiteContext, 'signal' | 'again'>): Promise<string[]> {
  const verdicts = await runCells(cells.map(({ name, run }) => ({ name, run, again: again({ only: name }) })), signal, verdict => verdict)

  return cells.filter((_, i) => (verdicts[i].complaints ?? []).length > 0).map(({ name }) => `not as promised: ${name}`)
}
