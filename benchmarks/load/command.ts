import { Command } from 'commander'
import { listOf, numberFrom, oneOf, wholeFrom } from '../command-line/arguments.ts'
import { commandText, outOption } from '../command-line/options.ts'
import { showResults } from '../report/results.ts'
import { loadResults } from './page.ts'
import { runLoad } from './run.ts'
import type { Cell, Pair, Refill, StackName } from './report.ts'

interface LoadFlags {
  rates: number[]
  roundTrips: number[]
  queues: string[]
  uploads: number[]
  refills: Refill[]
  pairs: string[]
  seconds: number
  out: string
}

const STACKS: StackName[] = ['official', 'transport', 'ours']
const REFILLS: Refill[] = ['listener', 'microtask', 'whole']
const PAIRS = STACKS.flatMap(dialer => STACKS.map(listener => `${dialer}:${listener}`))

export const loadCommand = new Command('load')
  .description('a line that uploads fill: how long small messages and new streams wait, and how long the connection lives (needs root and socat)')
  .option('--rates <list>', 'in Mbit/s', value => value.split(',').map(numberFrom(0.1)), [10])
  .option('--round-trips <list>', 'in ms', value => value.split(',').map(numberFrom(1)), [82])
  .option('--queues <list>', 'in KiB, or `bdp` for one bandwidth-delay product', value => value.split(','), ['256'])
  .option('--uploads <list>', 'streams that upload', value => value.split(',').map(wholeFrom(0)), [1])
  .option('--refills <list>', `how applications refill a stream: ${REFILLS.join()}`, listOf(oneOf(REFILLS)), ['microtask'])
  .option('--pairs <list>', `uploader:receiver, each of ${STACKS.join()}`, listOf(oneOf(PAIRS)), STACKS.map(name => `${name}:${name}`))
  .option('--seconds <s>', 'how long each takes', numberFrom(1), 60)
  .addOption(outOption())
  .action(async ({ pairs, seconds, out, ...flags }: LoadFlags, command: Command) => {
    const report = await runLoad({
      cells: cellsOf(flags),
      pairs: pairs.map(pair => {
        const [dialer, listener] = pair.split(':') as StackName[]

        return { dialer, listener } satisfies Pair
      }),
      duration: seconds,
      command: commandText(command)
    })

    await showResults(loadResults(report), out)
  })

function cellsOf ({ rates, roundTrips, queues, uploads, refills }: Omit<LoadFlags, 'pairs' | 'seconds' | 'out'>): Cell[] {
  const cells: Cell[] = []

  for (const rate of rates) {
    for (const roundTrip of roundTrips) {
      for (const queue of queues) {
        for (const refill of refills) {
          cells.push(...uploads.map(uploads => ({ rate, roundTrip, queue: queueBytes(queue, rate, roundTrip), uploads, refill })))
        }
      }
    }
  }

  return cells
}

/** A few packets must fit in any case */
function queueBytes (queue: string, rate: number, roundTrip: number): number {
  return queue === 'bdp' ? Math.max(16 * 1024, Math.round(rate * roundTrip * 125)) : Number(queue) * 1024
}
