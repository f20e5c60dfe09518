import { Command } from 'commander'
import { listOf, numberFrom, oneOf, wholeFrom } from '../../test/lab/arguments.ts'
import { selectContenders } from '../../test/lab/peers/registry.ts'
import { outOption } from '../command-line/options.ts'
import { reportOf } from '../report/report.ts'
import { showResults, writeResults } from '../report/results.ts'
import { isNative } from './ends.ts'
import { loadPage } from './page.ts'
import { PAIRS, runLoad } from './run.ts'
import type { Cell, JsName, LoadReport, Pair, StackName } from './report.ts'

interface Matrix {
  rates: number[]
  roundTrips: number[]
  queues: string[]
  congestion: string[]
  uploads: number[]
  pairs: string[]
  seconds: number
  slowReaders: JsName[]
  transfers: number
}

interface LoadFlags extends Partial<Matrix> {
  full?: boolean
  jobs: number
  out?: string
}

const JS: JsName[] = ['official', 'transport', 'ours']
const JS_PAIRS = PAIRS.filter(pair => !endsOf(pair).some(isNative))

const SAMPLE: Matrix = { rates: [10], roundTrips: [82], queues: ['256'], congestion: ['cubic'], uploads: [1], pairs: JS_PAIRS, seconds: 25, slowReaders: ['official', 'ours'], transfers: 0 }
const FULL: Matrix = { rates: [0.5, 1, 2, 10, 50, 200], roundTrips: [20, 82, 200], queues: ['bdp', '256'], congestion: ['cubic', 'bbr'], uploads: [1, 4], pairs: PAIRS, seconds: 60, slowReaders: JS, transfers: 7 }

export const loadCommand = new Command('load')
  .description('a line that uploads fill: how long small messages and new streams wait, and how long the connection lives (needs root and socat)')
  .option('--full', 'the whole matrix, in hours; without it one line, in two minutes')
  .option('--rates <list>', 'in Mbit/s', listOf(numberFrom(0.1)))
  .option('--round-trips <list>', 'in ms', listOf(numberFrom(1)))
  .option('--queues <list>', 'in KiB, or `bdp` for one bandwidth-delay product', listOf(value => value === 'bdp' ? value : `${numberFrom(1)(value)}`))
  .option('--congestion <list>', 'congestion controls, as the kernel names them', listOf(value => value))
  .option('--uploads <list>', 'streams that upload', listOf(wholeFrom(0)))
  .option('--pairs <list>', `uploader:receiver, of ${PAIRS.join()}, or none`, value => value === 'none' ? [] : listOf(oneOf(PAIRS))(value))
  .option('--seconds <s>', 'how long each uploads', numberFrom(1))
  .option('--slow-readers <list>', `a handler that takes 20 ms a message, of ${JS.join()}, or none`, jsNames)
  .option('--transfers <rounds>', 'a stock node sends 64 MiB over 80 ms without a rate, to receivers in turn, so many times', wholeFrom(0))
  .option('--jobs <n>', 'how many lines of up to 10 Mbit/s are measured side by side', wholeFrom(1), 4)
  .addOption(outOption())
  .action(async ({ full = false, jobs, out, ...flags }: LoadFlags, command: Command) => {
    const { pairs, seconds, slowReaders, transfers, ...lines } = { ...full ? FULL : SAMPLE, ...flags }
    const contenders = selectContenders('throughput', { levels: ['stream'], rivals: JS })
    const report: LoadReport = { ...reportOf('load', command, { contenders, notes: [], series: [] }), link: '', rows: [], slowReaders: [], transfers: [] }

    await runLoad({
      cells: cellsOf(lines),
      pairs: pairs.map(endsOf).map(([dialer, listener]): Pair => ({ dialer, listener })),
      seconds,
      slowReaders,
      transfers,
      jobs,
      report,
      onProgress: async () => { await (out == null ? undefined : writeResults({ ...loadPage(report), charts: {} }, out)) }
    })

    await showResults(loadPage(report), out)
  })

function endsOf (pair: string): [StackName, StackName] {
  return pair.split(':') as [StackName, StackName]
}

function jsNames (value: string): JsName[] {
  return value === 'none' ? [] : listOf(oneOf(JS))(value)
}

function cellsOf ({ rates, roundTrips, queues, congestion, uploads }: Pick<Matrix, 'rates' | 'roundTrips' | 'queues' | 'congestion' | 'uploads'>): Cell[] {
  const cells: Cell[] = []

  for (const rate of rates) {
    for (const roundTrip of roundTrips) {
      for (const queue of queues.map(queue => queueBytes(queue, rate, roundTrip))) {
        cells.push(...congestion.flatMap(congestion => uploads.map(uploads => ({ rate, roundTrip, queue, congestion, uploads }))))
      }
    }
  }

  return cells
}

/** A few packets must fit in any case */
function queueBytes (queue: string, rate: number, roundTrip: number): number {
  return queue === 'bdp' ? Math.max(16 * 1024, Math.round(rate * roundTrip * 125)) : Number(queue) * 1024
}
