import { say } from '../lab/process/say.ts'
import { isBaselineOf, isSame, nameOf } from './cells.ts'
import { dialCells, overLink } from './dial-cells.ts'
import { excessesOf, faultsOf } from './limits.ts'
import type { Cell } from './cells.ts'
import type { CellRun, DialOptions } from './dial-cells.ts'
import type { Measured } from './results.ts'
import type { Link } from '../lab/link/link.ts'

export interface MeasureOptions extends Pick<DialOptions, 'binaries' | 'signal' | 'again'> {
  /** Dials per cell over loopback */
  dials: number

  /** Measured dials per cell over the delayed link */
  runs: number

  /** One-way, in ms */
  delay: number

  /** Whether to measure over a delayed link at all */
  delayed: boolean
}

const ECHO_BYTES = 256 * 1024
const WARM_UPS = 2

/**
 * Dials every cell over loopback, and then again over the delayed link.
 */
export async function measure (cells: Cell[], options: MeasureOptions): Promise<Measured> {
  const { dials, runs, delay, delayed } = options
  const loopback = await overLink(0, async link => dialCells(link, cells, {
    ...options, bytes: ECHO_BYTES, concurrency: 2, complaints: run => faultsOf(run.cell, run.dials)
  }))
  const measured = { dials, runs, cells: loopback.map(({ cell, dials }) => ({ cell, loopback: dials })) }

  return delayed ? overLink(delay, async link => overDelayed(link, measured, options)) : measured
}

/**
 * What is over its limit is measured once more together with what it is compared
 * with, and the second measurement counts: a link made of a process suffers when
 * the machine has something else to do for a while.
 */
async function overDelayed (link: Link, measured: Measured, options: MeasureOptions): Promise<Measured> {
  const { kind, title, shape, roundTrip, hiddenRoundTrips, passedOver } = link
  say(`${title}: round trip ${roundTrip.toFixed(1)} ms`)

  const time = async (cells: Cell[]): Promise<CellRun[]> => dialCells(link, cells, {
    ...options, dials: options.runs, warmUps: WARM_UPS, bytes: 1, concurrency: 1, complaints: run => faultsOf(run.cell, run.dials, link)
  })
  const evaluate = (timed: CellRun[]): Measured => ({
    ...measured,
    cells: measured.cells.map((result, i) => ({ ...result, delayed: timed[i].dials })),
    link: { kind, title, shape, roundTrip, hiddenRoundTrips, passedOver }
  })

  const cells = measured.cells.map(({ cell }) => cell)
  const timed = await time(cells)
  const first = evaluate(timed)
  const excessive = first.cells.filter(result => excessesOf(result, first).length > 0).map(({ cell }) => cell)

  if (excessive.length === 0) {
    return first
  }

  say(`over the limit, measured once more: ${excessive.map(nameOf).join('; ')}`)
  const again = await time(cells.filter(cell => excessive.some(other => isSame(cell, other) || isBaselineOf(cell, other))))

  return {
    // but a dial that failed is not forgotten
    ...evaluate(timed.map(run => faultsOf(run.cell, run.dials).length === 0 ? again.find(({ cell }) => isSame(cell, run.cell)) ?? run : run)),
    repeated: excessive
  }
}
