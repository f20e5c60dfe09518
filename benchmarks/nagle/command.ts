import { Command, InvalidArgumentError } from 'commander'
import { RESULTS } from '../report/results-directory.ts'

interface NagleFlags {
  roundTrips: number[]
  runs: number
  messages: number
  spacing: number
  seed: number
  out: string
  quick?: boolean
}

const ROUND_TRIPS = [1_000, 80]

/**
 * `nagle`, for `program.addCommand`.
 */
export const nagleCommand = new Command('nagle')
  .description('shows Nagle\'s algorithm: one-byte writes with TCP_NODELAY off and on, each segment captured (needs root and tcpdump)')
  .option('--round-trips <list>', 'round trips in ms, with commas', numbers, ROUND_TRIPS)
  .option('--runs <n>', 'connections of each case over each link', whole, 5)
  .option('--messages <n>', 'one-byte writes on each connection', whole, 10)
  .option('--spacing <ms>', 'milliseconds between writes', whole, 5)
  .option('--seed <n>', 'for the order of the cases', whole, Math.floor(Math.random() * 1e6))
  .option('--out <directory>', 'where nagle.json, nagle.md and nagle.svg go', RESULTS)
  .option('--quick', 'one run over each link, in under a minute')
  .action(async ({ quick, out, ...flags }: NagleFlags) => {
    // a command line with other commands need not load what draws charts
    const { runNagle } = await import('./run-nagle.ts')

    await runNagle({ ...flags, runs: quick === true ? 1 : flags.runs, directory: out })
  })

function whole (value: string): number {
  const number = Number(value)

  if (!Number.isSafeInteger(number) || number < 1) {
    throw new InvalidArgumentError('It must be a whole number from 1 on.')
  }

  return number
}

function numbers (list: string): number[] {
  return list.split(',').map(whole)
}
