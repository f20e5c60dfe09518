import { median, summarise } from '../../test/lab/statistics.ts'
import type { NagleCase } from './cases.ts'
import type { NagleLink, NagleRun } from './report.ts'
import type { Summary } from '../../test/lab/statistics.ts'

export interface CaseFindings {
  case: NagleCase

  /** The bytes of each data segment, as most runs had them: `1 + 9`. */
  sizes: number[]

  /** The number of runs with those sizes. */
  agreeing: number
  runs: number
  retransmissions: number

  /** Milliseconds from the first write to the arrival of each message. */
  arrivals: Summary[]
  first: Summary
  last: Summary
}

export function findings (link: NagleLink, cases: NagleCase[]): CaseFindings[] {
  return cases.map(of => {
    const runs = link.runs.filter(run => run.case === of.id)
    const [sizes, agreeing] = mostCommon(runs.map(sizesOf))
    const arrivals = runs[0].arrivals.map((_, index) => summarise(runs.map(({ arrivals }) => arrivals[index])))

    return {
      case: of,
      sizes,
      agreeing,
      runs: runs.length,
      retransmissions: runs.flatMap(({ segments }) => segments).filter(({ retransmission }) => retransmission != null).length,
      arrivals,
      first: arrivals[0],
      last: arrivals[arrivals.length - 1]
    }
  })
}

function sizesOf ({ segments }: NagleRun): number[] {
  return segments
    .filter(({ from, bytes, retransmission }) => from === 'sender' && bytes > 0 && retransmission == null)
    .map(({ bytes }) => bytes)
}

function mostCommon (all: number[][]): [number[], number] {
  const groups = [...Map.groupBy(all, sizes => sizes.join()).values()].toSorted((a, b) => b.length - a.length)

  return [groups[0][0], groups[0].length]
}

/**
 * How many round trips after the first message the last one arrives with Nagle's
 * algorithm. Undefined where it held nothing back.
 */
export function tripsHeldBack (link: NagleLink, cases: NagleCase[], messages: number): number | undefined {
  const { sizes, first, last } = findingOf(link, cases, 'ours-nagle')

  return sizes.length === messages ? undefined : (last.median - first.median) / link.roundTrip
}

/**
 * What the official transport does where it is asked for Nagle's algorithm, only
 * if that is what was measured.
 */
export function notTheCause (link: NagleLink, cases: NagleCase[]): string[] {
  const [asked, not] = ['official-nagle', 'official-nodelay'].map(id => findingOf(link, cases, id).sizes.length)

  return asked === not && findingOf(link, cases, 'ours-nagle').sizes.length < asked
    ? ['@libp2p/tcp sets TCP_NODELAY even where `dialOpts.noDelay` is false, so Nagle\'s algorithm is not what made js-libp2p slower (issue #3029).']
    : []
}

export function findingOf (link: NagleLink, cases: NagleCase[], id: string): CaseFindings {
  return findings(link, cases.filter(of => of.id === id))[0]
}

/** Bytes per segment: `1 + 9`, `10 × 1`. */
export function sizesText (sizes: number[]): string {
  return sizes.length > 2 && sizes.every(size => size === sizes[0]) ? `${sizes.length} × ${sizes[0]}` : sizes.join(' + ')
}

/** The run whose writes and arrivals are nearest to the medians of all runs. */
export function typicalRun (link: NagleLink, id: string): NagleRun {
  const runs = link.runs.filter(run => run.case === id)
  const medians = transposed(runs.map(timesOf)).map(median)
  const distance = (run: NagleRun): number => timesOf(run).reduce((sum, time, index) => sum + Math.abs(time - medians[index]), 0)

  return runs.toSorted((a, b) => distance(a) - distance(b))[0]
}

function timesOf ({ writes, arrivals }: NagleRun): number[] {
  return [...writes, ...arrivals]
}

function transposed (rows: number[][]): number[][] {
  return rows[0].map((_, column) => rows.map(row => row[column]))
}
