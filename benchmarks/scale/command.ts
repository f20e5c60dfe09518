import { Command, Option } from 'commander'
import { saveResult } from '../throughput/save.ts'
import { runScale } from './run.ts'
import { scaleTables } from './table.ts'
import type { Level } from '../contenders/contender.ts'

interface Flags {
  quick?: boolean
  counts?: string[]
  levels?: Level[]
  rivals?: string[]
  rounds?: number
  hold: number
  seed: number
  out?: string
}

/**
 * At the stream level 10,000 connections would be minutes of handshakes.
 */
const MAX_STREAM_LEVEL = 1_000

export const scaleCommand = new Command('scale')
  .description('What many idle connections cost, against node:net and the official transport')
  .option('--quick', 'one round, up to 1,000 connections (100 at the stream level)')
  .option('--counts <numbers...>', 'how many connections (default: 10 100 1000 10000)')
  .addOption(new Option('--levels <names...>', 'only these levels').choices(['connection', 'stream']))
  .option('--rivals <names...>', 'only these rivals')
  .option('--rounds <count>', 'how often each rival is measured (default: 5)', Number)
  .option('--hold <seconds>', 'how long connections lie idle', Number, 1)
  .option('--seed <number>', 'decides the order within the rounds', Number, 1)
  .option('--out <file>', 'where to write all samples (default: benchmarks/results/scale.json)')
  .action(async (flags: Flags) => {
    const quick = flags.quick === true
    const result = await runScale({
      levels: flags.levels,
      rivals: flags.rivals,
      counts: flags.counts?.map(Number) ?? (quick ? [10, 100, 1_000] : [10, 100, 1_000, 10_000]),
      maxStreamLevel: quick && flags.counts == null ? 100 : MAX_STREAM_LEVEL,
      rounds: flags.rounds ?? (quick ? 1 : 5),
      hold: flags.hold * 1_000,
      seed: flags.seed,
      onProgress: message => { process.stderr.write(`${message}\n`) }
    })

    process.stdout.write(`${scaleTables(result)}\n`)
    process.stderr.write(`${await saveResult(result, flags.out)}\n`)
  })
