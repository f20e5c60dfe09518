/*
 * Runs our behaviour tests against `@libp2p/tcp` and against this transport, each file in a process of its own. A test whose title bears
 * the number of a fault must fail with the official transport; docs/upstream.md has the numbers. What that does right must pass with it.
 */
import { globSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { listOf, oneOf } from '../lab/arguments.ts'
import { runSpecs } from '../lab/run-specs.ts'
import { runSuite } from '../lab/suite.ts'
import type { Test } from '../lab/run-specs.ts'
import type { Cell } from '../lab/suite.ts'

const ROOT = path.resolve(import.meta.dirname, '..', '..')
const COLUMNS = ['official', 'ours', 'reuse-port', 'linux', 'fast-open']
const SPECS = ['test/{compliance,connection,dial,integration,listener}/**/*.spec.ts', 'test/unit/transport.spec.ts']

/** How many faults have a number */
const FAULTS = 11

/** What the official transport does right, so that ours must: a part of the titles of the tests */
const RULES = [
  // official has aborted the connection in that one, on a slow machine
  /^transport compliance(?!.* should close all streams when the connection closes)/,
  /connection gater reads a file.* resets at once/,
  /connection gater reads a file.*before its FIN/,
  /abort\(\) sends \d+ bytes of the same tick/,
  /^a reader of a connection that is aborted .* all has arrived, over plaintext/,
  /^what is logged changes no outcome .*AbortSignal/,
  /\/dns (reaches|connects)/,
  /timeout passes in a look-up/
]

interface Flags {
  columns: string[]
}

const failing = new Map<string, string[]>()

await runSuite<Flags>(new Command('suite official')
  .option('--columns <columns>', COLUMNS.join(), listOf(oneOf(COLUMNS)), ['official', 'ours']), async ({ columns }, signal) => {
  const isWhole = !process.argv.includes('--only')
  const cells = globSync(SPECS, { cwd: ROOT }).sort().flatMap(file => columns.map((column): Cell => ({
    name: `${column} ${file}`,
    async run () {
      const { passes, failures, pending } = await runSpecs([file], { cwd: ROOT, env: { TRANSPORT: column }, timeout: 20_000, signal })
      const wrong = failures.filter(({ fullTitle }) => column !== 'official' || isRule(fullTitle))

      failing.set(column, [...failing.get(column) ?? [], ...failures.map(({ fullTitle }) => fullTitle)])

      return {
        summary: `${passes.length} passed, ${failures.length} failed, ${pending.length} skipped`,
        complaints: complaintsOf(wrong),
        raw: failures
      }
    }
  })))

  return { concurrency: columns.length, cells: [...cells, ...columns.includes('official') && isWhole ? Array.from({ length: FAULTS }, (_, i) => faultCell(i + 1)) : []] }
})

/** Runs behind all others */
function faultCell (number: number): Cell {
  return {
    name: `fault ${number}`,
    sampled: 'never',
    async run () {
      const count = failing.get('official')?.join('\n').match(new RegExp(`\\bfault ${number}\\b`, 'g'))?.length ?? 0

      return { summary: `${count} tests fail with @libp2p/tcp`, complaints: count === 0 ? ['No test fails with official'] : [] }
    }
  }
}

function complaintsOf (failures: Test[]): string[] {
  return failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.message?.split('\n')[0]}`)
}

function isRule (title: string): boolean {
  return RULES.some(rule => rule.test(title))
}
