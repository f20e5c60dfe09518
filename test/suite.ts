/*
 * Runs one suite, `npm run suite <name> -- [options]`, or all of them and all specs in full, one after the other: `npm run suite all`.
 */
import { globSync, statSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { say } from './lab/process/say.ts'
import { runSuite } from './lab/suite.ts'
import type { Cell } from './lab/suite.ts'

const SUITES: Record<string, { script: string, isBuilt?: true }> = {
  pack: { script: 'pack/check.ts', isBuilt: true },
  versions: { script: 'versions/run.ts' },
  official: { script: 'official/run.ts' },
  ecosystem: { script: 'ecosystem/run.ts', isBuilt: true },
  runtimes: { script: 'runtimes/run.ts', isBuilt: true },
  interop: { script: 'interop/matrix.ts' },
  streams: { script: 'interop/streams.ts' },
  nat: { script: 'nat/matrix.ts' },
  soak: { script: 'soak/run.ts', isBuilt: true },
  public: { script: 'interop/public/run.ts', isBuilt: true },
  fault: { script: 'fault/run.ts' }
}

const [name] = process.argv.splice(2, 1)
const options = { cwd: path.resolve(import.meta.dirname, '..'), stdio: 'inherit' } as const

if (name === 'all') {
  await runSuite(new Command('suite all'), async ({ seed }, signal) => {
    say(`seed ${seed}`)

    return {
      cells: ['specs', ...Object.keys(SUITES)].map((name): Cell => ({
        name,
        async run () {
          const suite = ['run', 'suite', name, ...name === 'pack' ? [] : ['--', '--seed', `${seed}`, '--out', `test/results/${name}`]]

          await execa('npm', name === 'specs' ? ['test'] : suite, { ...options, env: { FC_SEED: `${seed}`, THOROUGH: 'true' }, cancelSignal: signal })

          return { summary: 'passed' }
        }
      }))
    }
  })
} else if (name in SUITES) {
  if (SUITES[name].isBuilt === true && !isBuilt()) {
    await execa('npm', ['run', 'build'], options)
  }

  await import(`./${SUITES[name].script}`)
} else {
  say(`There are ${Object.keys(SUITES).join(', ')}, and all`)
  process.exitCode = 2
}

/** Every build writes this file */
function isBuilt (): boolean {
  const built = statSync(path.join(options.cwd, 'dist/index.min.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0

  return globSync('src/**/*.ts', { cwd: options.cwd }).every(file => statSync(path.join(options.cwd, file)).mtimeMs < built)
}
