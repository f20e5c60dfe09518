import { Command, Option } from 'commander'
import { selectedRows, runThroughput } from './run.ts'
import { saveResult } from './save.ts'
import { throughputTables } from './table.ts'
import type { Level } from '../contenders/contender.ts'

interface Flags {
  quick?: boolean
  rows?: string[]
  levels?: Level[]
  rivals?: string[]
  rounds?: number
  target?: number
  seed: number
  counts: boolean
  freshProcesses: boolean
  out?: string
}

export const throughputCommand = new Command('throughput')
  .description('Round trips, one-way streams and pools against node:net and the official transport')
  .option('--quick', 'three short rounds in the same processes')
  .option('--rows <names...>', 'only these rows')
  .addOption(new Option('--levels <names...>', 'only these levels').choices(['connection', 'stream']))
  .option('--rivals <names...>', 'only these rivals')
  .option('--rounds <count>', 'how often each rival is measured (default: 7)', Number)
  .option('--target <ms>', 'how long a round should take (default: 700)', Number)
  .option('--seed <number>', 'decides the order within the rounds', Number, 1)
  .option('--no-counts', 'do not count allocations and write calls')
  .option('--no-fresh-processes', 'measure all rounds of a row in the same processes')
  .option('--out <file>', 'where to write all samples (default: benchmarks/results/throughput.json)')
  .action(async (flags: Flags) => {
    const quick = flags.quick === true
    const result = await runThroughput({
      ...flags,
      rounds: flags.rounds ?? (quick ? 3 : 7),
      target: flags.target ?? (quick ? 100 : 700),
      freshProcesses: flags.freshProcesses && !quick,
      onProgress: message => { process.stderr.write(`${message}\n`) }
    })

    process.stdout.write(`${throughputTables(result, selectedRows(flags.rows))}\n`)
    process.stderr.write(`${await saveResult(result, flags.out)}\n`)
  })
