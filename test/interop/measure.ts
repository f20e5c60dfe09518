import { openLink } from '../lab/link/open-link.ts'
import { isBaselineOf, isSame, nameOf } from './cells.ts'
import { excesses } from './limits.ts'
import { mergeRuns, successes } from './results.ts'
import { runCells } from './run-cells.ts'
import type { Cell } from './cells.ts'
import type { Results } from './results.ts'
import type { CellRun, RunOptions } from './run-cells.ts'
import type { Link } from '../lab/link/link.ts'

export interface MeasureOptions extends Pick<RunOptions, 'binaries' | 'signal'> {
  /** Dials per cell over loopback */
  dials: number

  /** Measured dials per cell over the delayed link */
  runs: number

  /** One-way, in ms */
  delay: number

  /** Whether to measure over a delayed link at all */
  delayed: boolean
  say(line: string): void
}

const ECHO_BYTES = 256 * 1024
const WARM_UPS = 2

/**
 * Dials every cell over loopback, and then again over the delayed link.
 */
export async function measure (cells: Cell[], options: MeasureOptions): Promise<Results> {
  const { dials, runs, delay, delayed } = options
  const loopback = await over({ delay: 0 }, async link => runCells(link, cells, {
    ...options, bytes: ECHO_BYTES, concurrency: 2, onCell: progress('loopback', options)
  }))
  const results = { dials, runs, cells: mergeRuns(loopback, [], WARM_UPS) }

  return delayed ? over({ delay }, async link => overDelayed(link, results, loopback, options)) : results
}

/**
 * What is over its limit is measured once more together with what it is compared
 * with, and the second measurement counts: a link made of a process suffers when
 * the machine has something else to do for a while.
 */
async function overDelayed (link: Link, results: Results, loopback: CellRun[], options: MeasureOptions): Promise<Results> {
  const { kind, title, shape, roundTrip, hiddenRoundTrips, passedOver } = link
  options.say(`${title}: round trip ${roundTrip.toFixed(1)} ms`)

  const time = async (cells: Cell[]): Promise<CellRun[]> => runCells(link, cells, {
    ...options, dials: WARM_UPS + options.runs, bytes: 1, concurrency: 1, onCell: progress('delayed', options)
  })
  const evaluate = (timed: CellRun[]): Results => ({
    ...results,
    cells: mergeRuns(loopback, timed, WARM_UPS),
    link: { kind, title, shape, roundTrip, hiddenRoundTrips, passedOver }
  })

  const cells = results.cells.map(({ cell }) => cell)
  const timed = await time(cells)
  const first = evaluate(timed)
  const excessive = first.cells.filter(result => excesses(result, first).length > 0).map(({ cell }) => cell)

  if (excessive.length === 0) {
    return first
  }

  options.say(`over the limit, measured once more: ${excessive.map(nameOf).join('; ')}`)
  const again = await time(cells.filter(cell => excessive.some(other => isSame(cell, other) || isBaselineOf(cell, other))))

  return {
    // but a dial that failed is not forgotten
    ...evaluate(timed.map(run => flawless(run) ? again.find(({ cell }) => isSame(cell, run.cell)) ?? run : run)),
    repeated: excessive
  }
}

function flawless ({ outcomes }: CellRun): boolean {
  return outcomes.every(({ ok, redialed }) => ok && redialed !== true)
}

async function over <T> (shape: { delay: number }, use: (link: Link) => Promise<T>): Promise<T> {
  const link = await openLink(shape)

  try {
    return await use(link)
  } finally {
    await link.close()
  }
}

function progress (name: string, { say }: MeasureOptions): RunOptions['onCell'] {
  return ({ cell, outcomes }, ms) => {
    say(`${name}: ${nameOf(cell)}: ${successes(outcomes)} of ${outcomes.length} in ${(ms / 1000).toFixed(1)} s`)
  }
}
