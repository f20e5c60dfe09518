/* eslint-disable no-console */
/*
 * Runs every test in full, goes on after a failure, and sums up once at the end.
 * `.ci/run` takes samples of the same.
 */
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { listOf, oneOf, wholeFrom } from './lab/arguments.ts'
import { duration } from './lab/report/numbers.ts'
import { markdownTable } from './lab/report/table.ts'

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

await new Command('test:all')
  .option('--only <scripts>', names.join(), listOf(oneOf(names)), names)
  .option('--seed <number>', 'makes a run again', wholeFrom(0), Date.now() % 2 ** 31)
  .action(main)
  .parseAsync()

async function main ({ only, seed }: Flags): Promise<void> {
  const rows: string[][] = []

  console.info('seed %d', seed)

  for (const script of only) {
    const result = await execa('npm', ['run', script, ...SCRIPTS[script] === 'option' ? ['--', '--seed', `${seed}`] : []], {
      cwd: path.resolve(import.meta.dirname, '..'),
      env: SCRIPTS[script] === 'environment' ? { FC_SEED: `${seed}`, THOROUGH: 'true' } : {},
      stdio: 'inherit',
      reject: false
    })

    rows.push([script, result.failed ? `failed: ${result.shortMessage}` : 'passed', duration(result.durationMs)])

    if (result.isTerminated) {
      break
    }
  }

  console.info('\nseed %d\n\n%s', seed, markdownTable({ columns: [{ title: 'script', align: 'left' }, { title: 'result', align: 'left' }, { title: 'time' }], rows }))
  process.exitCode = rows.length === only.length && rows.every(([, result]) => result === 'passed') ? 0 : 1
}
