/*
 * Runs every test in full, goes on after a failure, and sums up once at the end. `.ci/run` takes samples of the same.
 */
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { say } from './lab/process/say.ts'
import { runSuite } from './lab/suite.ts'
import type { Cell } from './lab/suite.ts'

/** The npm scripts, in this order */
const SCRIPTS = ['test', 'test:pack', 'test:versions', 'test:official', 'test:ecosystem', 'test:runtimes', 'test:interop', 'test:nat', 'test:public', 'test:streams', 'test:fault']

await runSuite(new Command('test:all'), async ({ seed }, signal) => {
  say(`seed ${seed}`)

  return {
    cells: SCRIPTS.map((name): Cell => ({
      name,
      async run () {
        await execa('npm', ['run', name, ...name === 'test:fault' ? ['--', '--seed', `${seed}`] : []], {
          cwd: path.resolve(import.meta.dirname, '..'),
          env: name === 'test' ? { FC_SEED: `${seed}`, THOROUGH: 'true' } : {},
          stdio: 'inherit',
          cancelSignal: signal
        })

        return { summary: 'passed' }
      }
    }))
  }
})
