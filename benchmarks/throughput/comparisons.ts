import { compare } from '../report/comparison.ts'
import { samplesOf } from '../series.ts'
import type { ThroughputReport } from './report.ts'
import type { Comparison } from '../report/comparison.ts'

/**
 * A contender as the keys of series have it
 */
export interface Of {
  level: string
  rival: string
}

/**
 * What connections are compared with
 */
export const NET: Of = { level: 'connection', rival: 'net' }

/**
 * The time that an operation of one takes over that of the other. Undefined
 * where one of them was not measured.
 */
export function timeRatio (report: ThroughputReport, row: string, of: Of, to: Of): Comparison | undefined {
  const times = ({ level, rival }: Of): number[] => samplesOf(report.samples, { row, level, rival, metric: 'time' })

  return compare(times(of), times(to))
}

/**
 * Who was measured at a level, in the order in which tables list them.
 */
export function rivalsAt (report: ThroughputReport, level: string): Array<{ name: string, title: string }> {
  return report.rivals.filter(rival => rival.level === level)
}

/**
 * The levels in the order in which tables list them.
 */
export function levelsOf (report: ThroughputReport): string[] {
  return [...new Set(report.rivals.map(({ level }) => level))]
}
