import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { directory, numberFrom, wholeFrom } from './arguments.ts'
import { withCleanUp } from './process/interrupt.ts'
import { seededRandom, shuffled } from './process/random.ts'
import { say } from './process/say.ts'
import { environment, provenance, rememberCommit } from './report/environment.ts'
import { markdownTable, tableOf } from './report/table.ts'
import type { Command } from 'commander'

/** How a cell went */
export interface Verdict {
  /** Such as `5 of 5` */
  summary: string

  /** What did not go as promised */
  complaints?: string[]

  /** What `--out` keeps besides */
  raw?: unknown
}

/** One thing that a suite looks at. What it throws is a complaint */
export interface Cell {
  name: string
  run(signal: AbortSignal): Promise<Verdict>

  /** Whether every sample has it, or none */
  sampled?: 'always' | 'never'
}

export interface Cells {
  cells: Cell[]

  /** At a time; 1 by default, where time matters */
  concurrency?: number

  /** Why nothing can run here */
  missing?: string

  /** Whether that is a failure; by default it is in CI */
  isRequired?: boolean

  /** Runs after the last cell, whatever happened */
  end?(): Promise<unknown>
}

/** Options that every suite has */
export interface SuiteFlags {
  only?: string
  sample: number
  seed: number
  out?: string
}

type Result = Verdict & { name: string, seconds: number }

/**
 * Parses the command line, runs the cells that were asked for, prints a line for each, and a table at the end. The exit code is 1 if
 * one of them has a complaint, and that of the signal if one ended the run.
 *
 * @param command - with the options of its own; its name is that of the npm script
 * @param prepare - makes the cells. The signal fires with the first signal that asks the process to end
 */
export async function runSuite <Flags extends object> (command: Command, prepare: (flags: Flags & SuiteFlags, signal: AbortSignal) => Promise<Cells>): Promise<void> {
  const flags = command
    .option('--only <names>', 'the cell with this name, or those that have one of these in their name')
    .option('--sample <share>', 'of the cells, chosen by the seed; 1 for all', numberFrom(0), 1)
    .option('--seed <number>', 'makes a choice again', wholeFrom(0), Date.now() % 2 ** 31)
    .option('--out <directory>', 'where to write results.json and RESULTS.md', directory)
    .parse().opts<Flags & SuiteFlags>()
  const controller = new AbortController()
  const { signal } = controller
  const ended = Promise.withResolvers<void>()

  rememberCommit()

  await withCleanUp(async () => {
    controller.abort()
    await ended.promise
  }, async () => {
    try {
      const { cells, concurrency, missing, isRequired = process.env.CI != null, end } = await prepare(flags, signal)

      if (missing != null) {
        say(`SKIPPED: ${missing}`)
        process.exitCode = isRequired ? 1 : 0
        return
      }

      try {
        const results = await runCells(choose(cells, flags), command, signal, concurrency)
        const failed = results.filter(({ complaints = [] }) => complaints.length > 0)

        await write(results, commandLine(command, { out: undefined }), flags.out)
        say(`${results.length - failed.length} passed, ${failed.length} failed`)
        process.exitCode = failed.length === 0 ? 0 : 1
      } finally {
        await end?.()
      }
    } finally {
      ended.resolve()
    }
  })
}

/** @throws {Error} if there is none with such a name */
export function choose <T extends Pick<Cell, 'name' | 'sampled'>> (cells: T[], { only = '', sample, seed }: SuiteFlags): T[] {
  const exact = cells.filter(({ name }) => name === only)
  const named = exact.length > 0 ? exact : cells.filter(({ name }) => only.split(',').some(part => name.includes(part.trim())))

  if (named.length === 0) {
    throw new Error(`No cell has "${only}" in its name`)
  }

  if (sample >= 1) {
    return named
  }

  const toSample = named.filter(({ sampled }) => sampled == null)
  const chosen = shuffled(toSample, seededRandom(seed)).slice(0, Math.ceil(toSample.length * sample))

  return named.filter(cell => cell.sampled === 'always' || chosen.includes(cell))
}

async function runCells (cells: Cell[], command: Command, signal: AbortSignal, concurrency = 1): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  let done = 0

  async function run (i: number): Promise<void> {
    const { name, run } = cells[i]
    const start = performance.now()
    const verdict = await run(signal).catch((err): Verdict => ({ summary: 'failed', complaints: [err.message] }))

    signal.throwIfAborted()
    results[i] = { name, seconds: (performance.now() - start) / 1_000, ...verdict }

    const { summary, seconds, complaints = [] } = results[i]

    say(`${++done}/${cells.length} ${name}: ${summary}, ${seconds.toFixed(1)} s`)
    complaints.forEach(complaint => { say(`  ${complaint}`) })

    if (complaints.length > 0) {
      say(`  again: ${commandLine(command, { only: name, sample: undefined, out: undefined })}`)
    }
  }

  // a signal ends all of them before the first is told of
  const workers = await Promise.allSettled(Array.from({ length: concurrency }, async () => {
    while (next < cells.length) {
      signal.throwIfAborted()
      await run(next++)
    }
  }))

  workers.forEach(worker => {
    if (worker.status === 'rejected') {
      throw worker.reason
    }
  })

  return results
}

async function write (results: Result[], command: string, directory?: string): Promise<void> {
  const table = markdownTable(tableOf(results, [
    ['cell', ({ name }) => name, 'left'],
    ['result', ({ summary }) => summary, 'left'],
    ['', ({ complaints = [] }) => complaints.length === 0 ? '' : 'FAILED', 'left'],
    ['s', ({ seconds }) => seconds.toFixed(1)]
  ]))

  if (directory == null) {
    process.stdout.write(`${table}\n`)
    return
  }

  await mkdir(directory, { recursive: true })
  await writeFile(path.join(directory, 'results.json'), `${JSON.stringify({ ...environment(command), results }, undefined, 1)}\n`)
  await writeFile(path.join(directory, 'RESULTS.md'), `${provenance(environment(command))}\n\n${table}\n`)
}

function commandLine (command: Command, changed: Record<string, unknown>): string {
  const values: Record<string, unknown> = { ...command.opts(), ...changed }
  const args = command.options.flatMap(option => {
    const name = option.attributeName()
    const value = values[name]
    const isDefault = command.getOptionValueSource(name) === 'default' && !(name in changed) && name !== 'seed'

    if (value == null || isDefault || value === option.negate) {
      return []
    }

    return typeof value === 'boolean' ? [option.long] : [option.long, quoted(`${value}`)]
  })

  return [`npm run ${command.name()}`, ...args.length === 0 ? [] : ['--', ...args]].join(' ')
}

function quoted (text: string): string {
  return /^[\w.,:/@-]+$/.test(text) ? text : `'${text}'`
}
