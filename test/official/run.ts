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
import { environment } from '../lab/report/environment.ts'
import { runCells } from '../lab/suite/run-cells.ts'
import { runSuite } from '../lab/suite/run-suite.ts'
import { COLUMNS, broken, report } from './report.ts'
import type { Column, Outcome, Outcomes } from './report.ts'
import type { SuiteContext } from '../lab/suite/run-suite.ts'

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
interface MochaReport {
  passes: Test[]
  failures: Test[]
  pending: Test[]
}

interface Flags {
  columns: Column[]
  specs: string[]
  write?: boolean
}

await runSuite(new Command('test:official')
  .option('--columns <columns>', Object.keys(COLUMNS).join(), listOf(oneOf(Object.keys(COLUMNS) as Column[])), ['official', 'ours'])
  .option('--specs <patterns>', 'which files', listOf(pattern => pattern), SPECS)
  .option('--write', 'into RESULTS.md'), main)

async function main ({ columns, specs, write }: Flags, { signal, command, again }: SuiteContext): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'official-'))
  const outcomes: Outcomes = Object.fromEntries(columns.map(column => [column, []]))
  const cells = globSync(specs, { cwd: ROOT }).sort().flatMap(file => columns.map(column => ({ file, column })))

  try {
    const found = await runCells(cells.map(({ file, column }, i) => ({
      name: `${column} ${file}`,
      again: again({ columns: column, specs: file }),
      run: async () => ({ column, tests: await run(file, column, path.join(folder, `${i}.json`), signal) })
    })), signal, ({ column, tests }) => ({
      summary: (['passed', 'failed', 'skipped'] as const).map(result => `${tests.filter(test => test.result === result).length} ${result}`).join(', '),
      complaints: tests.flatMap(({ title, result, reason }) => result === 'failed' && column !== 'official' ? [`${title}: ${reason}`] : [])
    }), columns.length)

    found.forEach(({ column, tests }) => outcomes[column]?.push(...tests))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }

  const text = report(outcomes, environment(command))

  if (write === true) {
    await writeFile(path.join(import.meta.dirname, 'RESULTS.md'), text)
  }

  process.stdout.write(text)

  return broken(outcomes)
}

async function run (file: string, column: Column, report: string, signal: AbortSignal): Promise<Outcome[]> {
  const { stderr, timedOut } = await execa('mocha', [file, '--no-parallel', '--ui', 'bdd', '--timeout', `${TEST_TIMEOUT}`, '--reporter', 'json', '--reporter-option', `output=${report}`, '--exit'], {
    cwd: ROOT,
    env: {
      TRANSPORT: COLUMNS[column],
      NODE_ENV: 'test',
      NODE_OPTIONS: '--no-warnings'
    },
    preferLocal: true,
    timeout: FILE_TIMEOUT,
    cancelSignal: signal,
    stdout: 'ignore',
    // tests that fail are what this is about
    reject: false
  })

  try {
    const { passes, failures, pending }: MochaReport = JSON.parse(await readFile(report, 'utf8'))

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
