/* eslint-disable no-console */
import { Command } from 'commander'
import { listOf, wholeFrom } from '../../test/lab/arguments.ts'
import { commandText, outOption, seedOption } from '../command-line/options.ts'
import { showResults } from '../report/results-old.ts'
import { nagleResults } from './page.ts'
import { runNagle } from './run.ts'

interface NagleFlags {
  quick?: boolean
  roundTrips: number[]
  runs?: number
  messages: number
  spacing: number
  seed: number
  out?: string
}

const RUNS = 5
const QUICK_RUNS = 1

export const nagleCommand = new Command('nagle')
  .description('one-byte writes with Nagle\'s algorithm and without, each segment captured (needs root and tcpdump)')
  .option('--quick', 'one run over each link, in about a minute')
  .option('--round-trips <list>', 'round trips in ms', listOf(wholeFrom(1)), [1_000, 80])
  .option('--runs <n>', `connections of each case over each link (default: ${RUNS}, quick: ${QUICK_RUNS})`, wholeFrom(1))
  .option('--messages <n>', 'one-byte writes on each connection', wholeFrom(1), 10)
  .option('--spacing <ms>', 'milliseconds between writes', wholeFrom(1), 5)
  .addOption(seedOption())
  .addOption(outOption())
  .action(async ({ quick, out, ...flags }: NagleFlags, command: Command) => {
    const outcome = await runNagle({ runs: quick === true ? QUICK_RUNS : RUNS, ...flags, command: commandText(command) })

    if (typeof outcome === 'string') {
      console.log(`${outcome}\nNothing was measured.`)
      return
    }

    await showResults(nagleResults(outcome), out)
  })
