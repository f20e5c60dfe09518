import { median, summarise } from '../statistics.ts'
import type { NagleCase } from './cases.ts'
import type { NagleRun } from './measure.ts'
import type { NagleLink } from './run.ts'
import type { Summary } from '../statistics.ts'

/**
 * What the runs of one case over one link come to
 */
export interface CaseFindings {
  case: NagleCase

  /**
   * The bytes of each data segment, as most runs had them: `1 + 9`.
   */
  sizes: number[]

  /**
   * The number of runs with those sizes.
   */
  agreeing: number
  runs: number
  retransmissions: number

  /**
   * Milliseconds from the first write to the arrival of each message.
   */
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
      retransmissions: runs.flatMap(({ segments }) => segments).filter(({ retransmission }) => retransmission).length,
      arrivals,
      first: arrivals[0],
      last: arrivals[arrivals.length - 1]
    }
  })
}

function sizesOf ({ segments }: NagleRun): number[] {
  return segments
    .filter(({ from, bytes, retransmission }) => from === 'sender' && bytes > 0 && !retransmission)
    .map(({ bytes }) => bytes)
}

function mostCommon (all: number[][]): [number[], number] {
  const groups = [...Map.groupBy(all, sizes => sizes.join()).values()].toSorted((a, b) => b.length - a.length)

  return [groups[0][0], groups[0].length]
}

/**
 * The run whose writes and arrivals are nearest to the medians of all runs.
 */
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
