/*
 * Checks the properties with many more runs than `npm test` does, and prints
 * the seed: `--seed` and `--path`, as a failure prints them, do a run again.
 */
import path from 'node:path'
import { Command } from 'commander'
import { execa } from 'execa'
import { numberFrom, wholeFrom } from '../lab/arguments.ts'

interface Flags {
  runs: number
  minutes: number
  seed: number
  path?: string
  only?: string
}

await new Command('test:property')
  .option('--runs <number>', 'of each property that takes real sockets', wholeFrom(1), 5_000)
  .option('--minutes <number>', 'begin no more runs of a property after this long', numberFrom(0), 3)
  .option('--seed <number>', 'makes a run again', wholeFrom(0), Date.now() % 2 ** 31)
  .option('--path <path>', 'of the counterexample among the runs of a seed')
  .option('--only <text>', 'only properties whose title contains it')
  .action(main)
  .parseAsync()

async function main ({ runs, minutes, seed, path: counterexample, only }: Flags): Promise<void> {
  const { exitCode } = await execa('mocha', ['test/property/**/*.spec.ts', '--no-parallel', '--ui', 'bdd', '--timeout', '60000', ...(only == null ? [] : ['--fgrep', only])], {
    cwd: path.resolve(import.meta.dirname, '..', '..'),
    env: {
      NODE_ENV: 'test',
      NODE_OPTIONS: '--no-warnings',
      FC_SEED: `${seed}`,
      FC_PATH: counterexample,
      FC_SOCKET_RUNS: `${runs}`,
      FC_SOCKET_TIME: `${minutes * 60_000}`
    },
    preferLocal: true,
    reject: false,
    stdio: 'inherit'
  })

  process.exitCode = exitCode
}
