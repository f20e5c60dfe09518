/* eslint-disable no-console */
/*
 * Runs specs many times and prints how often each test passed: a test that fails
 * now and then is a fault to find.
 */
import path from 'node:path'
import { Command } from 'commander'
import { wholeFrom } from './lab/arguments.ts'
import { markdownTable } from './lab/report/table.ts'
import { runSpecs } from './lab/run-specs.ts'

interface Flags {
  runs: number
  grep?: string
}

await new Command('test:repeat')
  .argument('<specs...>', 'files')
  .option('--runs <number>', 'how often', wholeFrom(1), 20)
  .option('--grep <text>', 'only tests whose title contains it')
  .action(main)
  .parseAsync()

async function main (specs: string[], { runs, grep }: Flags): Promise<void> {
  const passed = new Map<string, number>()
  const errors = new Map<string, Set<string>>()

  for (let run = 1; run <= runs; run++) {
    const { passes, failures } = await runSpecs(specs, { cwd: path.resolve(import.meta.dirname, '..'), args: grep == null ? [] : ['--fgrep', grep] })

    passes.forEach(({ fullTitle }) => { passed.set(fullTitle, (passed.get(fullTitle) ?? 0) + 1) })
    failures.forEach(({ fullTitle, err }) => {
      passed.set(fullTitle, passed.get(fullTitle) ?? 0)
      errors.set(fullTitle, (errors.get(fullTitle) ?? new Set()).add(`${err.message}`.split('\n')[0]))
    })
    console.error('run %d of %d: %d passed, %d failed', run, runs, passes.length, failures.length)
  }

  console.info(markdownTable({
    columns: [{ title: 'test', align: 'left' }, { title: 'passed' }, { title: 'errors', align: 'left' }],
    rows: [...passed].map(([title, count]) => [title, `${count} of ${runs}`, [...errors.get(title) ?? []].join('; ')])
  }))

  process.exitCode = errors.size > 0 || passed.size === 0 ? 1 : 0
}
