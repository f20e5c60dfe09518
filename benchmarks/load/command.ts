import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { Command } from 'commander'
import { listOf, numberFrom, oneOf, wholeFrom } from '../../test/lab/arguments.ts'
import { selectContenders } from '../../test/lab/peers/registry.ts'
import { outOption } from '../command-line/options.ts'
import { reportOf } from '../report/report.ts'
import { showResults, writeResults } from '../report/results.ts'
import { isNative } from './ends.ts'
import { loadPage } from './page.ts'
import { PAIRS, runLoad } from './run.ts'
import type { Cell, JsName, LoadReport, Pair, Refill, StackName } from './report.ts'

interface Matrix {
  rates: number[]
  roundTrips: number[]
  queues: string[]
  congestion: string[]
  uploads: number[]
  refills: Refill[]
  pairs: string[]
  seconds: number
  slowReaders: JsName[]
  fetches: JsName[]
  transfers: number
}

interface LoadFlags extends Partial<Matrix> {
  full?: boolean
  jobs: number
  keep?: boolean
  out?: string
}

const JS: JsName[] = ['official', 'transport', 'ours']
const REFILLS: Refill[] = ['listener', 'microtask', 'whole']
const JS_PAIRS = PAIRS.filter(pair => !endsOf(pair).some(isNative))

const SAMPLE: Matrix = { rates: [10], roundTrips: [82], queues: ['256'], congestion: ['cubic'], uploads: [1], refills: ['microtask'], pairs: JS_PAIRS, seconds: 25, slowReaders: ['official', 'ours'], fetches: [], transfers: 0 }
const FULL: Matrix = { rates: [0.5, 1, 2, 10, 50, 200], roundTrips: [20, 82, 200], queues: ['bdp', '256'], congestion: ['cubic', 'bbr'], uploads: [1, 4], refills: ['microtask'], pairs: PAIRS, seconds: 60, slowReaders: JS, fetches: JS, transfers: 7 }

export const loadCommand = new Command('load')
  .description('a line that uploads fill: how long small messages and new streams wait, and how long the connection lives (needs root and socat)')
  .option('--full', 'the whole matrix, in hours; without it one line, in two minutes')
  .option('--rates <list>', 'in Mbit/s', listOf(numberFrom(0.1)))
  .option('--round-trips <list>', 'in ms', listOf(numberFrom(1)))
  .option('--queues <list>', 'in KiB, or `bdp` for one bandwidth-delay product', listOf(value => value === 'bdp' ? value : `${numberFrom(1)(value)}`))
  .option('--congestion <list>', 'congestion controls, as the kernel names them', listOf(value => value))
  .option('--uploads <list>', 'streams that upload', listOf(wholeFrom(0)))
  .option('--refills <list>', `how applications refill a stream: ${REFILLS.join()}`, listOf(oneOf(REFILLS)))
  .option('--pairs <list>', `uploader:receiver, of ${PAIRS.join()}, or none`, value => value === 'none' ? [] : listOf(oneOf(PAIRS))(value))
  .option('--seconds <s>', 'how long each uploads', numberFrom(1))
  .option('--slow-readers <list>', `a handler that takes 20 ms a message, of ${JS.join()}, or none`, jsNames)
  .option('--fetches <list>', `Helia fetches 60 MiB over 10 Mbit/s, with ${JS.join()}, or none; needs what \`npm run suite ecosystem\` installs`, jsNames)
  .option('--transfers <rounds>', 'a stock node sends 64 MiB over 80 ms without a rate, to receivers in turn, so many times', wholeFrom(0))
  .option('--jobs <n>', 'how many lines of up to 10 Mbit/s are measured side by side', wholeFrom(1), 4)
  .option('--keep', 'what the directory holds and is not measured again stays')
  .addOption(outOption())
  .action(async ({ full = false, jobs, keep = false, out, ...flags }: LoadFlags, command: Command) => {
    const { pairs, seconds, slowReaders, fetches, transfers, ...lines } = { ...full ? FULL : SAMPLE, ...flags }
    const report = await runLoad({
      cells: cellsOf(lines),
      pairs: pairs.map(pair => {
        const [dialer, listener] = endsOf(pair)

        return { dialer, listener } satisfies Pair
      }),
      seconds,
      slowReaders,
      fetches,
      transfers,
      jobs,
      report: { ...reportOf('load', command, { contenders: selectContenders('throughput', { levels: ['stream'], rivals: JS }), notes: [], series: [] }), link: '', rows: [], slowReaders: [], fetches: [], transfers: [], ...keep && out != null ? await earlierRows(out) : {} },
      onProgress: async report => { await (out == null ? undefined : writeResults({ ...loadPage(report), charts: {} }, out)) }
    })

    await showResults(loadPage(report), out)
  })

function endsOf (pair: string): [StackName, StackName] {
  return pair.split(':') as [StackName, StackName]
}

function jsNames (value: string): JsName[] {
  return value === 'none' ? [] : listOf(oneOf(JS))(value)
}

type Rows = Pick<LoadReport, 'link' | 'rows' | 'slowReaders' | 'fetches' | 'transfers'>

async function earlierRows (out: string): Promise<Partial<Rows>> {
  const file = path.join(out, 'load.json')

  if (!existsSync(file)) {
    return {}
  }

  const { link, rows, slowReaders, fetches, transfers }: Rows = JSON.parse(await readFile(file, 'utf8'))

  return { link, rows, slowReaders, fetches, transfers }
}

function cellsOf ({ rates, roundTrips, queues, congestion, uploads, refills }: Pick<Matrix, 'rates' | 'roundTrips' | 'queues' | 'congestion' | 'uploads' | 'refills'>): Cell[] {
  const cells: Cell[] = []

  for (const rate of rates) {
    for (const roundTrip of roundTrips) {
      for (const queue of queues.map(queue => queueBytes(queue, rate, roundTrip))) {
        cells.push(...congestion.flatMap(congestion => refills.flatMap(refill => uploads.map(uploads => ({ rate, roundTrip, queue, congestion, uploads, refill })))))
      }
    }
  }

  return cells
}

/** A few packets must fit in any case */
function queueBytes (queue: string, rate: number, roundTrip: number): number {
  return queue === 'bdp' ? Math.max(16 * 1024, Math.round(rate * roundTrip * 125)) : Number(queue) * 1024
}
