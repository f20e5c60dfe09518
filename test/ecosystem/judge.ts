import { median } from '../lab/statistics.ts'
import { PROGRAMS } from './programs.ts'
import type { ModeName, ProgramInfo, ProgramName } from './programs.ts'
import type { Outcome } from './run-program.ts'

export interface Verdict {
  program: ProgramName
  mode: ModeName
  runs: number
  passed: number

  /** Each once */
  complaints: string[]

  /** Medians of the rounds in which both came through, of official's time in the same round; NaN if there is none */
  wall: number
  cpu: number

  /** Slower than official in every round, and by more than 5 % in the median */
  isSlower: boolean
}

/** More than official's time by this factor counts as slower */
const TOLERANCE = 1.05

/** Of fewer rounds nothing can be said */
const LEAST_ROUNDS = 3

/** How a program fared in one mode. `rounds` are outcomes, those of one round together */
export function judge (program: ProgramName, mode: ModeName, rounds: Outcome[][]): Verdict {
  const pairs = rounds.map(round => ({
    outcome: round.find(outcome => outcome.program === program && outcome.mode === mode),
    official: round.find(outcome => outcome.program === program && outcome.mode === 'official')
  })).filter((pair): pair is { outcome: Outcome, official: Outcome | undefined } => pair.outcome != null)
  const complaints = pairs.map(({ outcome, official }) => [...outcome.complaints, ...differences(outcome, official)])
  const timed = pairs.filter(({ outcome, official }) => outcome.complaints.length === 0 && official?.complaints.length === 0)
  const wall = timed.map(({ outcome, official }) => outcome.wall / (official?.wall ?? NaN))
  const cpu = timed.map(({ outcome, official }) => outcome.cpu / (official?.cpu ?? NaN))

  return {
    program,
    mode,
    runs: pairs.length,
    passed: complaints.filter(complaints => complaints.length === 0).length,
    complaints: [...new Set(complaints.flat())],
    wall: median(wall),
    cpu: median(cpu),
    isSlower: mode !== 'official' && isSlower(wall) && isSlower(cpu)
  }
}

function isSlower (ratios: number[]): boolean {
  return ratios.length >= LEAST_ROUNDS && median(ratios) > TOLERANCE && ratios.every(ratio => ratio > 1)
}

/** What a program delivered otherwise than with official. That official failed is no complaint about us */
function differences (outcome: Outcome, official?: Outcome): string[] {
  if (official == null || official.complaints.length > 0 || outcome.complaints.length > 0) {
    return []
  }

  const { gains }: ProgramInfo = PROGRAMS[outcome.program]

  return [...new Set([...Object.keys(outcome.facts), ...Object.keys(official.facts)])]
    .filter(key => gains?.includes(key) === true ? !(outcome.facts[key] >= official.facts[key]) : outcome.facts[key] !== official.facts[key])
    .map(key => `${key} is ${outcome.facts[key]}, and ${official.facts[key]} with official`)
}
