import { Command } from 'commander'
import { listOf, numberFrom, oneOf, wholeFrom } from '../../test/lab/arguments.ts'
import { commandText, outOption, seedOption } from '../command-line/options.ts'
import { showResults } from '../report/results-old.ts'
import { perfResults } from './page.ts'
import { runPerfSuite } from './run.ts'
import type { Dialer, Listener } from './run.ts'

interface PerfFlags {
  quick?: boolean
  dialers?: Dialer[]
  listeners?: Listener[]
  rounds?: number
  size?: number
  seed: number
  out?: string
}

const DIALERS: Dialer[] = ['official', 'transport', 'ours', 'go', 'rust']
const LISTENERS: Listener[] = ['itself', 'official', 'go', 'rust']

const FULL = { rounds: 7, size: 256, dialers: DIALERS, listeners: LISTENERS }
const QUICK = { rounds: 1, size: 16, dialers: DIALERS.slice(0, 3), listeners: LISTENERS.slice(0, 2) }

export const perfCommand = new Command('perf')
  .description('/perf/1.0.0 of the libp2p specification: bulk up and down and the latency of a byte, to js, go and rust')
  .option('--quick', 'one round of 16 MiB, to js; in a minute')
  .option('--dialers <list>', `${DIALERS.join()} (quick: ${QUICK.dialers.join()}); go and rust dial their own kind`, listOf(oneOf(DIALERS)))
  .option('--listeners <list>', `${LISTENERS.join()} (quick: ${QUICK.listeners.join()})`, listOf(oneOf(LISTENERS)))
  .option('--rounds <n>', `how often each is measured (default: ${FULL.rounds}, quick: ${QUICK.rounds})`, wholeFrom(1))
  .option('--size <MiB>', `each way (default: ${FULL.size}, quick: ${QUICK.size})`, numberFrom(1))
  .addOption(seedOption())
  .addOption(outOption())
  .action(async ({ quick = false, out, ...flags }: PerfFlags, command: Command) => {
    const { size, ...init } = { ...quick ? QUICK : FULL, ...flags }
    const report = await runPerfSuite({ ...init, bytes: size * 1_048_576, command: commandText(command) })

    await showResults(perfResults(report), out)
  })
