import { STEPS } from '../../test/lab/peers/contender.ts'
import { overlaps, summarise } from '../../test/lab/statistics.ts'
import type { LinkRuns, RivalSummary } from './report.ts'
import type { Contender, FirstByte } from '../../test/lab/peers/contender.ts'

/** What ratios are against */
export const REFERENCE = 'official'

/** Below this many milliseconds a round trip is programs at work. */
const SHORTEST_ROUND_TRIP = 5

export function summariseLink (link: LinkRuns, rivals: Array<Pick<Contender, 'name' | 'title'>>): RivalSummary[] {
  const reference = samplesOf(link, REFERENCE).map(({ total }) => total)
  const referenceTotal = summarise(reference)
  const hidden = link.roundTrip * link.hiddenRoundTrips

  return rivals.map(({ name, title }) => {
    const samples = samplesOf(link, name)
    const total = summarise(samples.map(({ total }) => total))
    const measurable = link.roundTrip >= SHORTEST_ROUND_TRIP

    return {
      rival: name,
      title,
      failures: link.runs.filter(run => run.rival === name && run.failure != null).length,
      connect: summarise(samples.flatMap(({ connect }) => connect ?? [])),
      handshake: summarise(samples.flatMap(sample => handshakeOf(sample) ?? [])),
      stream: summarise(samples.map(({ stream }) => stream)),
      firstByte: summarise(samples.map(({ firstByte }) => firstByte)),
      total,
      close: summarise(samples.map(({ close }) => close)),
      roundTrips: measurable ? (total.median + hidden) / link.roundTrip : NaN,
      ratio: (total.median + hidden) / (referenceTotal.median + hidden),
      noisy: name !== REFERENCE && overlaps(total, referenceTotal)
    }
  })
}

/** Undefined where it is not known. */
export function handshakeOf ({ security, muxer }: FirstByte): number | undefined {
  return security == null || muxer == null ? undefined : security + muxer
}

/** What is left of the total when the steps that are known are taken off. */
export function untoldOf (sample: FirstByte): number {
  const isWhole = STEPS.every(step => sample[step] != null)

  return isWhole ? 0 : sample.total - STEPS.reduce((sum, step) => sum + (sample[step] ?? 0), 0)
}

/** What counts: warm-ups and failures do not. */
export function samplesOf (link: LinkRuns, rival: string): FirstByte[] {
  return link.runs
    .filter(run => run.rival === rival && run.run > 0)
    .flatMap(({ sample }) => sample ?? [])
}
