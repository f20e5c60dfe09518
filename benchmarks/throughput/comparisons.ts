import { compare } from '../report/comparison.ts'
import { rivalsAt, samplesOf } from '../series.ts'
import type { ReportedRow, ThroughputReport } from './report.ts'
import type { Comparison } from '../report/comparison.ts'

/** A contender as the keys of series have it */
export interface Of {
  level: string
  rival: string
}

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
 * What a table of a level compares, in the order of its columns: connections with
 * raw net and the official transport, streams with the official transport.
 */
export function comparedAt (report: ThroughputReport, level: string): Array<{ of: Of, to: Of }> {
  const official: Of = { level, rival: 'official' }
  const base = level === NET.level ? NET : official
  const others = rivalsAt(report, level).map((rival): Of => ({ level, rival })).filter(({ rival }) => rival !== base.rival)
  const isOfficialThere = base !== official && others.some(({ rival }) => rival === official.rival)

  return [
    ...others.map(of => ({ of, to: base })),
    ...(isOfficialThere ? others.filter(({ rival }) => rival !== official.rival).map(of => ({ of, to: official })) : [])
  ]
}

export function rowsAt (report: ThroughputReport, level: string): ReportedRow[] {
  return report.rows.filter(({ name }) => report.samples.some(of => of.row === name && of.level === level))
}
