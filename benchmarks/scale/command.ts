import { Command } from 'commander'
import { listOf, numberFrom, oneOf, wholeFrom } from '../../test/lab/arguments.ts'
import { LEVELS, selectContenders } from '../../test/lab/peers/registry.ts'
import { commandText, outOption, rivalsOption, seedOption } from '../command-line/options.ts'
import { showResults } from '../report/results-old.ts'
import { scaleResults } from './page.ts'
import { runScale } from './run.ts'
import type { Level } from '../../test/lab/peers/contender.ts'

interface ScaleFlags {
  quick?: boolean
  counts?: number[]
  levels?: Level[]
  rivals?: string[]
  rounds?: number
  hold: number
  seed: number
  out?: string
}

/** At the stream level 10,000 connections would be minutes of handshakes. */
const FULL = { counts: [10, 100, 1_000, 10_000], rounds: 3, maxStreamLevel: 1_000 }
const QUICK = { counts: [10, 100, 1_000], rounds: 1, maxStreamLevel: 100 }

export const scaleCommand = new Command('scale')
  .description('what many idle connections cost, against node:net and the official transport')
  .option('--quick', 'one round, up to 1,000 connections (100 at the stream level); in under a minute')
  .option('--counts <list>', `how many connections (default: ${FULL.counts.join()}, quick: ${QUICK.counts.join()})`, listOf(wholeFrom(1)))
  .option('--levels <list>', 'only connection, or only stream', listOf(oneOf(LEVELS)))
  .addOption(rivalsOption('scale'))
  .option('--rounds <n>', `how often each is measured (default: ${FULL.rounds}, quick: ${QUICK.rounds})`, wholeFrom(1))
  .option('--hold <ms>', 'how long connections lie idle', numberFrom(0), 1_000)
  .addOption(seedOption())
  .addOption(outOption())
  .action(async ({ quick = false, out, ...flags }: ScaleFlags, command: Command) => {
    const { maxStreamLevel, ...defaults } = quick ? QUICK : FULL
    const report = await runScale({
      ...defaults,
      maxStreamLevel: quick && flags.counts == null ? maxStreamLevel : FULL.maxStreamLevel,
      ...flags,
      command: commandText(command),
      contenders: selectContenders('scale', flags)
    })
    await showResults(scaleResults(report), out)
  })
