import { REFERENCE, summariseLink } from '../connect/summary.ts'
import { tripsHeldBack } from '../nagle/findings.ts'
import { levelsOf } from '../series.ts'
import { comparedAt, timeRatio } from '../throughput/comparisons.ts'
import { ratioTitle } from '../throughput/tables.ts'
import type { Reports } from './reports.ts'
import type { ConnectReport, LinkRuns, RivalSummary } from '../connect/report.ts'
import type { NagleLink, NagleReport } from '../nagle/report.ts'
import type { ThroughputReport } from '../throughput/report.ts'

export interface QuotedRatio {
  suite: 'connect' | 'nagle' | 'throughput'

  /** The same in every run. */
  name: string
  ratio: number

  /** The page says that it may be noise. */
  noisy: boolean
}

/** Every ratio of the suites, in their order. Scale has costs, no ratios. */
export function quotedRatios ({ connect, nagle, throughput }: Reports): QuotedRatio[] {
  return [
    ...(connect == null ? [] : connectRatios(connect)),
    ...(nagle == null ? [] : nagleRatios(nagle)),
    ...(throughput == null ? [] : throughputRatios(throughput))
  ].filter(({ ratio }) => Number.isFinite(ratio))
}

/** The longest link, and who was measured over it. */
export function quotedLink ({ links, rivals }: ConnectReport): { link: LinkRuns, summaries: RivalSummary[] } {
  const link = links.reduce((longest, link) => link.roundTrip > longest.roundTrip ? link : longest)

  return { link, summaries: summariseLink(link, rivals).filter(({ total }) => total.count > 0) }
}

/** The first link, which is that of the textbooks. */
function quotedNagleLink ({ links }: NagleReport): NagleLink {
  return links[0]
}

function connectRatios (report: ConnectReport): QuotedRatio[] {
  return quotedLink(report).summaries.flatMap(({ rival, title, roundTrips, ratio, noisy }) => [
    { suite: 'connect', name: `${title}: round trips`, ratio: roundTrips, noisy: false },
    // what all are compared with is always 1
    ...(rival === REFERENCE ? [] : [{ suite: 'connect' as const, name: `${title}: to ${REFERENCE}`, ratio, noisy }])
  ])
}

function nagleRatios (report: NagleReport): QuotedRatio[] {
  return [{ suite: 'nagle', name: 'round trips from the first byte to the last', ratio: tripsHeldBack(quotedNagleLink(report), report.cases, report.messages) ?? NaN, noisy: false }]
}

function throughputRatios (report: ThroughputReport): QuotedRatio[] {
  return levelsOf(report).flatMap(level => report.rows.flatMap(({ name, title }) => comparedAt(report, level).map(({ of, to }) => {
    const { ratio = NaN, noisy = false } = timeRatio(report, name, of, to) ?? {}

    return { suite: 'throughput' as const, name: `${title}, ${level} level: ${ratioTitle(of, to)}`, ratio, noisy }
  })))
}
