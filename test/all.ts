/*
 * Runs every test in full, goes on after a failure, and sums up once at the end.
 * `.ci/run` takes samples of the same.
 */
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { listOf, oneOf, wholeFrom } from './lab/arguments.ts'
import { say } from './lab/process/say.ts'
import { duration } from './lab/report/numbers.ts'
import { markdownTable } from './lab/report/table.ts'
import { runCells } from './lab/suite/run-cells.ts'
import { runSuite } from './lab/suite/run-suite.ts'

/** The npm scripts, in this order, and whether each takes the seed */
const SCRIPTS = {
  test: 'environment',
  'test:pack': 'none',
  'test:versions': 'none',
  'test:official': 'none',
  'test:ecosystem': 'none',
  'test:runtimes': 'none',
  'test:interop': 'none',
  'test:nat': 'none',
  'test:public': 'none',
  'test:streams': 'none',
  'test:property': 'option',
  'test:fault': 'option'
} as const

type Script = keyof typeof SCRIPTS

const names = Object.keys(SCRIPTS) as Script[]

interface Flags {
  only: Script[]
  seed: number
}

await runSuite(new Command('test:all')
  .option('--only <scripts>', names.join(), listOf(oneOf(names)), names)
  .option('--seed <number>', 'makes a run again', wholeFrom(0), Date.now() % 2 ** 31), async ({ only, seed }: Flags, { signal, again }) => {
  say(`seed ${seed}`)

  const results = await runCells(only.map(script => ({
    name: script,
    again: again({ only: script }),
    run: async () => execa('npm', ['run', script, ...SCRIPTS[script] === 'option' ? ['--', '--seed', `${seed}`] : []], {
      cwd: path.resolve(import.meta.dirname, '..'),
      env: SCRIPTS[script] === 'environment' ? { FC_SEED: `${seed}`, THOROUGH: 'true' } : {},
      stdio: 'inherit',
      reject: false
    })
  })), signal, ({ failed, shortMessage = '' }) => ({ summary: failed ? 'failed' : 'passed', complaints: failed ? [shortMessage] : [] }))

  process.stdout.write(`\nseed ${seed}\n\n${markdownTable({
    columns: [{ title: 'script', align: 'left' }, { title: 'result', align: 'left' }, { title: 'time' }],
    rows: results.map(({ failed, durationMs }, i) => [only[i], failed ? 'failed' : 'passed', duration(durationMs)])
  })}\n`)

  return only.filter((_, i) => results[i].failed).map(script => `failed: ${script}`)
})
