import { Command } from 'commander'
import { listOf, numberFrom, oneOf, wholeFrom } from '../../test/lab/arguments.ts'
import { LEVELS } from '../../test/lab/peers/registry.ts'
import { outOption, prepareRivals, rivalsOption, seedOption } from '../command-line/options.ts'
import { inTurn } from '../in-turn.ts'
import { reportOf } from '../report/report.ts'
import { showResults } from '../report/results.ts'
import { measure } from './measure.ts'
import { throughputPage } from './page.ts'
import { rowNamed, rows } from './rows/registry.ts'
import type { Measuring } from './measure.ts'
import type { Level } from '../../test/lab/peers/contender.ts'

interface ThroughputFlags extends Pick<Measuring, 'pinned' | 'nodeOptions'> {
  quick?: boolean
  rows?: string[]
  levels?: Level[]
  rivals?: string[]
  rounds?: number
  warmUp?: number
  target?: number
  seed: number
  out?: string
}

const FULL = { rounds: 5, warmUp: 1_500, target: 1_500 }
const QUICK = { rounds: 2, warmUp: 300, target: 200 }

const names = rows.map(({ name }) => name)
const extra = rows.flatMap(row => 'extra' in row && row.extra === true ? [row.name] : [])

export const throughputCommand = new Command('throughput')
  .description('round trips, one-way streams, bulk, pools and memory, against node:net and the official transport; each rival in new processes, wherever the scheduler puts them')
  .option('--quick', 'fewer and shorter rounds, whose figures say little; in minutes')
  .option('--rows <list>', `only these rows: ${names.join(', ')} (default: all but ${extra.join(', ')})`, listOf(oneOf(names)))
  .option('--levels <list>', 'only connection, or only stream', listOf(oneOf(LEVELS)))
  .addOption(rivalsOption('throughput'))
  .option('--rounds <n>', `how often each is measured (default: ${FULL.rounds}, quick: ${QUICK.rounds})`, wholeFrom(1))
  .option('--warm-up <ms>', `how long each works before it is measured (default: ${FULL.warmUp}, quick: ${QUICK.warmUp})`, numberFrom(0))
  .option('--target <ms>', `how long each is measured in a round (default: ${FULL.target}, quick: ${QUICK.target})`, numberFrom(1))
  .option('--pinned', 'keep each end on a core of its own (taskset)', false)
  .option('--node-options <list>', 'of the Node of both ends, such as --node-options=--min-semi-space-size=16, or --cpu-prof,--cpu-prof-dir=<directory> for a CPU profile of each', listOf(option => option), [])
  .addOption(seedOption())
  .addOption(outOption())
  .action(async ({ quick = false, out, rows: wanted = names.filter(name => !extra.includes(name)), levels, rivals, ...flags }: ThroughputFlags, command: Command) => {
    const { rounds, seed, ...measuring } = { ...quick ? QUICK : FULL, ...flags }
    const { contenders, notes } = await prepareRivals('throughput', { levels, rivals })
    const jobs = wanted.map(rowNamed).flatMap(row => contenders.filter(({ level }) => row.levels.includes(level)).map(contender => ({
      group: contender.level,
      row: row.name,
      rival: contender.name,
      measure: async () => measure(contender, row, measuring)
    })))
    const { series, failures } = await inTurn(jobs, { rounds, seed })

    await showResults(throughputPage(reportOf('throughput', command, { seed, contenders, notes: [...notes, ...failures], series }), measuring), out)
  })
