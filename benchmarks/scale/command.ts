import { Command } from 'commander'
import { listOf, numberFrom, oneOf, wholeFrom } from '../../test/lab/arguments.ts'
import { LEVELS } from '../../test/lab/peers/registry.ts'
import { outOption, prepareRivals, rivalsOption, seedOption } from '../command-line/options.ts'
import { inTurn } from '../in-turn.ts'
import { reportOf } from '../report/report.ts'
import { showResults } from '../report/results.ts'
import { measureConnections } from './measure.ts'
import { scalePage } from './page.ts'
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
const FULL = { counts: [10, 100, 1_000, 10_000], rounds: 3, mostStreams: 1_000 }
const QUICK = { counts: [10, 100, 1_000], rounds: 1, mostStreams: 100 }

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
  .action(async ({ quick = false, out, levels, rivals, hold, seed, ...flags }: ScaleFlags, command: Command) => {
    const { rounds, counts, mostStreams } = { ...quick ? QUICK : FULL, ...quick && flags.counts != null ? { mostStreams: FULL.mostStreams } : {}, ...flags }
    const { contenders, notes } = await prepareRivals('scale', { levels, rivals })
    const jobs = counts.flatMap(count => contenders.filter(({ level }) => level === 'connection' || count <= mostStreams).map(contender => ({
      group: contender.level,
      row: `${count}`,
      rival: contender.name,
      measure: async (note: (message: string) => void) => measureConnections(contender, count, hold, note)
    })))
    const { series, failures } = await inTurn(jobs, { rounds, seed })

    await showResults(scalePage(reportOf('scale', command, { seed, contenders, notes: [...notes, ...failures], series })), out)
  })
