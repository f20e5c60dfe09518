import { Command } from 'commander'
import { listOf, numberFrom, oneOf, wholeFrom } from '../../test/lab/arguments.ts'
import { LEVELS, selectContenders } from '../../test/lab/peers/registry.ts'
import { commandText, outOption, rivalsOption, seedOption } from '../command-line/options.ts'
import { showResults } from '../report/results.ts'
import { throughputResults } from './page.ts'
import { rowNamed, rows } from './rows/registry.ts'
import { runThroughput } from './run.ts'
import type { Level } from '../../test/lab/peers/contender.ts'

interface ThroughputFlags {
  quick?: boolean
  rows?: string[]
  levels?: Level[]
  rivals?: string[]
  rounds?: number
  mostRounds?: number
  precision: number
  target?: number
  slices?: number
  seed: number
  counts: boolean
  freshProcesses: boolean
  nodeOptions: string[]
  out?: string
}

const FULL = { rounds: 5, mostRounds: 20, slices: 20, target: 4_000, warmUp: 2_000 }
const QUICK = { rounds: 3, slices: 1, target: 100, warmUp: 400 }

export const throughputCommand = new Command('throughput')
  .description('round trips, one-way streams and pools against node:net and the official transport')
  .option('--quick', 'fewer and shorter rounds in the same processes, and nothing is counted; in under two minutes')
  .option('--rows <list>', `only these rows: ${rows.map(({ name }) => name).join(', ')} (default: all but ${rows.filter(({ extra }) => extra === true).map(({ name }) => name).join(', ')})`, listOf(oneOf(rows.map(({ name }) => name))))
  .option('--levels <list>', 'only connection, or only stream', listOf(oneOf(LEVELS)))
  .addOption(rivalsOption('throughput'))
  .option('--rounds <n>', `how often each is measured (default: ${FULL.rounds}, quick: ${QUICK.rounds})`, wholeFrom(1))
  .option('--most-rounds <n>', `how often at most, while a ratio is not precise (default: ${FULL.mostRounds}; with --quick, --rounds or --no-fresh-processes no more than that)`, wholeFrom(1))
  .option('--precision <share>', 'which standard error of a ratio, as a part of it, is precise', numberFrom(0), 0.03)
  .option('--target <ms>', `how long a rival should work in a round (default: ${FULL.target}, quick: ${QUICK.target})`, numberFrom(1))
  .option('--slices <n>', `in how many parts it does so, between those of the others (default: ${FULL.slices}, quick: ${QUICK.slices})`, wholeFrom(1))
  .option('--no-counts', 'do not count allocations and write calls')
  .option('--no-fresh-processes', 'measure all rounds of a row in the same processes')
  .option('--node-options <list>', 'with which options the Node of both ends runs while they are measured, such as --node-options=--min-semi-space-size=16, or --cpu-prof,--cpu-prof-dir=<directory> for a CPU profile of each', listOf(option => option), [])
  .addOption(seedOption())
  .addOption(outOption())
  .action(async ({ quick = false, out, ...flags }: ThroughputFlags, command: Command) => {
    const preset = quick ? QUICK : FULL
    const freshProcesses = flags.freshProcesses && !quick
    const rounds = flags.rounds ?? Math.min(preset.rounds, flags.mostRounds ?? Infinity)
    const report = await runThroughput({
      ...preset,
      ...flags,
      rounds,
      freshProcesses,
      mostRounds: freshProcesses ? Math.max(rounds, flags.mostRounds ?? (flags.rounds == null ? FULL.mostRounds : rounds)) : rounds,
      rows: flags.rows?.map(rowNamed) ?? rows.filter(({ extra }) => extra !== true),
      contenders: selectContenders('throughput', flags),
      command: commandText(command),
      counts: flags.counts && !quick
    })
    await showResults(throughputResults(report), out)
  })
