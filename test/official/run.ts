/*
 * Runs our behaviour tests against `@libp2p/tcp` and against this transport, each file in a process of
 * its own, and prints where the two differ: a test that everybody passes shows no difference, and one of a fault that the
 * official transport has must fail there. What that does right must pass with both.
 */
import { globSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { listOf, oneOf } from '../lab/arguments.ts'
import { withCleanUp } from '../lab/process/interrupt.ts'
import { progress } from '../lab/process/progress.ts'
import { environment } from '../lab/report/environment.ts'
import { COLUMNS, kept, page } from './page.ts'
import type { Column, Outcome } from './page.ts'

const ROOT = path.resolve(import.meta.dirname, '..', '..')

const SPECS = [
  'test/compliance/**/*.spec.ts',
  'test/connection/**/*.spec.ts',
  'test/dial/**/*.spec.ts',
  'test/integration/**/*.spec.ts',
  'test/listener/**/*.spec.ts',
  'test/options/**/*.spec.ts',
  'test/unit/transport.spec.ts'
]

/** A test that waits for what never comes ends with this, in ms */
const TEST_TIMEOUT = 20_000

/** And one that blocks its process, or a file of many such tests, in ms */
const FILE_TIMEOUT = 300_000

interface Test {
  fullTitle: string
  err: { message?: string }
}

/** Of mocha */
interface Report {
  passes: Test[]
  failures: Test[]
  pending: Test[]
}

interface Flags {
  columns: Column[]
  specs: string[]
  write?: boolean
}

await new Command('test:official')
  .option('--columns <columns>', Object.keys(COLUMNS).join(), listOf(oneOf(Object.keys(COLUMNS) as Column[])), ['official', 'ours'])
  .option('--specs <patterns>', 'which files', listOf(pattern => pattern), SPECS)
  .option('--write', 'into RESULTS.md')
  .action(main)
  .parseAsync()

async function main ({ columns, specs, write }: Flags): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'official-'))

  await withCleanUp(async () => { await rm(folder, { recursive: true, force: true }) }, async () => {
    const files = globSync(specs, { cwd: ROOT }).sort()
    const bar = progress(files.length * columns.length)
    const outcomes = Object.fromEntries(columns.map(column => [column, []])) as unknown as Record<Column, Outcome[]>

    // a column has a processor, and its files come one after another
    await Promise.all(columns.map(async column => {
      for (const file of files) {
        bar.step(`${column} ${file}`)
        outcomes[column].push(...await run(file, column, path.join(folder, `${column}.json`)))
      }
    }))
    bar.stop()

    const text = page(outcomes, environment(['npm run test:official', ...process.argv.length > 2 ? ['--'] : [], ...process.argv.slice(2)].join(' ')))

    if (write === true) {
      await writeFile(path.join(import.meta.dirname, 'RESULTS.md'), text)
    }

    process.stdout.write(text)
    process.exitCode = kept(outcomes) ? 0 : 1
  })
}

async function run (file: string, column: Column, report: string): Promise<Outcome[]> {
  await rm(report, { force: true })

  const { stderr, timedOut } = await execa('mocha', [file, '--no-parallel', '--ui', 'bdd', '--timeout', `${TEST_TIMEOUT}`, '--reporter', 'json', '--reporter-option', `output=${report}`, '--exit'], {
    cwd: ROOT,
    env: {
      TRANSPORT: COLUMNS[column],
      NODE_ENV: 'test',
      NODE_OPTIONS: '--no-warnings'
    },
    preferLocal: true,
    timeout: FILE_TIMEOUT,
    stdout: 'ignore',
    // tests that fail are what this is about
    reject: false
  })

  try {
    const { passes, failures, pending }: Report = JSON.parse(await readFile(report, 'utf8'))

    return [
      ...passes.map(({ fullTitle }): Outcome => ({ title: fullTitle, result: 'passed' })),
      ...failures.map(({ fullTitle, err }): Outcome => ({ title: fullTitle, result: 'failed', reason: err.message?.split('\n')[0] })),
      ...pending.map(({ fullTitle }): Outcome => ({ title: fullTitle, result: 'skipped' }))
    ]
  } catch {
    // the process ended before its report: an exception that nobody caught, or the limit of time
    return [{ title: file, result: 'failed', reason: timedOut ? 'does not end' : `ends its process: ${stderr.trim().split('\n').find(line => line.includes('Error')) ?? ''}` }]
  }
}
