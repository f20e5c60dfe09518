import { spawnSync } from 'node:child_process'
import { Command } from 'commander'
import { listOf, wholeFrom } from '../../test/lab/arguments.ts'
import { contenderNamed } from '../../test/lab/peers/registry.ts'
import { outOption, seedOption } from '../command-line/options.ts'
import { reportOf } from '../report/report.ts'
import { showResults } from '../report/results.ts'
import { STACKS, measureNagle } from './measure.ts'
import { naglePage } from './page.ts'
import type { Writes } from './measure.ts'

interface NagleFlags extends Writes {
  quick?: boolean
  roundTrips: number[]
  runs?: number
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
  .action(async ({ quick, roundTrips, runs, messages, spacing, seed, out }: NagleFlags, command: Command) => {
    const lacking = missing()

    if (lacking.length > 0) {
      // eslint-disable-next-line no-console
      console.log(`Nagle's algorithm is at work between two kernels: a proxy cannot show it. This needs ${lacking.join('; ')}. Nothing was measured.`)

      return
    }

    const turns = { rounds: runs ?? (quick === true ? QUICK_RUNS : RUNS), seed }
    const outcomes: Array<Awaited<ReturnType<typeof measureNagle>>> = []

    for (const roundTrip of roundTrips) {
      outcomes.push(await measureNagle(roundTrip, { messages, spacing }, turns))
    }

    const report = reportOf('nagle', command, {
      seed,
      contenders: STACKS.map(stack => contenderNamed('connection', stack)),
      notes: outcomes.flatMap(({ failures }) => failures),
      series: outcomes.flatMap(({ series }) => series)
    })

    await showResults(naglePage({ ...report, messages, spacing, links: outcomes.map(({ link }) => link), runs: outcomes.flatMap(({ runs }) => runs) }), out)
  })

/** What this machine lacks to run two kernels' TCP over a link of our own and to capture it */
function missing (): string[] {
  const runs = (file: string, ...args: string[]): boolean => spawnSync(file, args, { stdio: 'ignore' }).status === 0

  return [
    ...process.platform === 'linux' ? [] : ['Linux, for network namespaces'],
    ...process.getuid?.() === 0 ? [] : ['root, for network namespaces and captures'],
    ...runs('ip', '-V') ? [] : ['ip (apt-get install iproute2)'],
    ...runs('tcpdump', '--version') ? [] : ['tcpdump (apt-get install tcpdump)']
  ]
}
