import { contenderNamed } from '../../test/lab/peers/registry.ts'
import { unlessStopping } from '../../test/lab/process/interrupt.ts'
import { progress } from '../../test/lab/process/progress.ts'
import { measureBusyLine } from './busy-line.ts'
import { isNative } from './ends.ts'
import { measureSlowReader } from './slow-reader.ts'
import { measureTransfers } from './transfers.ts'
import type { Cell, JsName, LoadReport, LoadRow, Pair } from './report.ts'
import type { LinkKind } from '../../test/lab/link/link.ts'

export interface LoadInit {
  cells: Cell[]
  pairs: Pair[]

  /** How long each uploads, in s */
  seconds: number
  slowReaders: JsName[]

  /** How often each is made */
  transfers: number

  /** How many measurements of slow lines run at a time */
  jobs: number

  /** To be filled */
  report: LoadReport

  /** Called after each measurement, so that nothing is lost where somebody ends us */
  onProgress(): Promise<void>
}

interface Task {
  title: string

  /** It would be disturbed by others */
  isAlone: boolean
  run(): Promise<void>
}

/** A faster line takes so much of the processor that others would be measured too, in Mbit/s */
const SLOW_LINE = 10

/** What the chart shows, if it is measured */
const TYPICAL: Cell = { rate: 10, roundTrip: 82, queue: 256 * 1024, congestion: 'cubic', uploads: 1 }

/** In the order of tables and charts */
export const PAIRS = ['official:official', 'official:ours', 'transport:transport', 'transport:official', 'ours:ours', 'ours:official', 'no-window:official', 'linux:official', 'linux:linux', 'ours:go', 'ours:rust', 'go:official', 'go:ours', 'go:go']

/** TCP of the kernel starts slowly over a relay. Over a proxy it does not, and only windows are in the way */
const TRANSFER_LINKS: LinkKind[] = ['relay', 'proxy']

const SLOW_READER = { size: 256 * 2 ** 20, seconds: 20 }

/** Everything over links of their own: those over slow lines side by side, then the others one by one */
export async function runLoad ({ cells, pairs, seconds, slowReaders, transfers, jobs, report, onProgress }: LoadInit): Promise<void> {
  const charted = [TYPICAL, ...cells].find(cell => cells.some(other => lineOf(other) === lineOf(cell)))
  const tasks: Task[] = [
    ...cells.flatMap(cell => pairs.map((pair): Task => ({
      title: `${cell.rate} Mbit/s, ${cell.roundTrip} ms, ${Math.round(cell.queue / 1024)} KiB, ${cell.congestion}, ${cell.uploads} up: ${pair.dialer} to ${pair.listener}`,
      isAlone: cell.rate > SLOW_LINE,
      async run () {
        const { row: { waits, ...row }, link } = await measureBusyLine(cell, pair, seconds)

        report.link = link
        report.rows.push({ ...row, ...charted != null && lineOf(cell) === lineOf(charted) ? { waits } : {} })
        report.rows.sort(inOrder)
      }
    }))),
    ...slowReaders.map((stack): Task => ({
      title: `a slow reader, ${stack}`,
      isAlone: true,
      run: async () => { report.slowReaders.push(await measureSlowReader(stack, SLOW_READER.size, SLOW_READER.seconds)) }
    })),
    ...(transfers > 0 ? TRANSFER_LINKS : []).map((link): Task => ({
      title: `transfers over a ${link}`,
      isAlone: true,
      run: async () => { report.transfers.push(...await measureTransfers(link, transfers)) }
    }))
  ]
  const shown = progress(tasks.length)

  try {
    for (const name of new Set(pairs.flatMap(({ dialer, listener }) => [dialer, listener]).filter(isNative))) {
      await contenderNamed('stream', name).prepare?.(shown.note)
    }

    await runAll(tasks.filter(({ isAlone }) => !isAlone), jobs)
    await runAll(tasks.filter(({ isAlone }) => isAlone), 1)
  } finally {
    shown.stop()
  }

  async function runAll (tasks: Task[], jobs: number): Promise<void> {
    const left = [...tasks]

    await Promise.all(Array.from({ length: jobs }, async () => {
      for (let task = left.shift(); task != null; task = left.shift()) {
        shown.step(task.title)

        try {
          await task.run()
        } catch (err: any) {
          // a signal ends the workers too, and that is no result
          await unlessStopping()
          report.notes.push(`Not measured: ${task.title}: ${err.message}`)
        }

        await onProgress()
      }
    }))
  }
}

/** As a reader looks for them: by line, official first */
function inOrder (a: LoadRow, b: LoadRow): number {
  const place = ({ dialer, listener }: Pair): number => PAIRS.indexOf(`${dialer}:${listener}`)

  return a.rate - b.rate || a.roundTrip - b.roundTrip || a.queue - b.queue || a.congestion.localeCompare(b.congestion) || a.uploads - b.uploads || place(a) - place(b)
}

export function lineOf ({ rate, roundTrip, queue, congestion, uploads }: Cell): string {
  return [rate, roundTrip, queue, congestion, uploads].join()
}
