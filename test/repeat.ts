/* eslint-disable no-console */
/*
 * Runs specs many times and prints how often each test passed: a test that fails
 * now and then is a fault to find.
 */
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { wholeFrom } from './lab/arguments.ts'
import { markdownTable } from './lab/report/table.ts'

interface Flags {
  runs: number
  grep?: string
}

interface Report {
  passes: Array<{ fullTitle: string }>
  failures: Array<{ fullTitle: string, err: { message?: string } }>
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
  let crashes = 0

  for (let run = 1; run <= runs; run++) {
    const { stdout, exitCode } = await execa('mocha', [...specs, '--no-parallel', '--ui', 'bdd', '--timeout', '60000', '--reporter', 'json', '--exit', ...(grep == null ? [] : ['--fgrep', grep])], {
      cwd: path.resolve(import.meta.dirname, '..'),
      env: { NODE_ENV: 'test', NODE_OPTIONS: '--no-warnings' },
      preferLocal: true,
      reject: false
    })
    const start = stdout.indexOf('{\n  "stats"')

    if (start === -1) {
      crashes++
      console.error('run %d of %d ended with %d and no report\n%s', run, runs, exitCode, stdout.slice(-2_000))
      continue
    }

    const { passes, failures }: Report = JSON.parse(stdout.slice(start))

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

  process.exitCode = crashes > 0 || errors.size > 0 || passed.size === 0 ? 1 : 0
}
