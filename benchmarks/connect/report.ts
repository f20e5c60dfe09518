import type { Link, LinkKind, LinkParts } from '../../test/lab/link/link.ts'
import type { FirstByte } from '../../test/lab/peers/contender.ts'
import type { Environment } from '../../test/lab/report/environment.ts'
import type { Summary } from '../../test/lab/statistics.ts'

/** One dial of one contender */
export interface Run {
  rival: string

  /** Counted from 1; 0 and below are warm-ups. */
  run: number
  sample?: FirstByte

  /** Why there is no sample. */
  failure?: string
}

export interface LinkRuns extends Pick<LinkParts, 'title' | 'hiddenRoundTrips'>, Partial<Pick<Link, 'shape' | 'passedOver'>> {
  kind: LinkKind | 'network'
  roundTrip: number
  runs: Run[]
}

/** All that is known of a connect benchmark, as its JSON file holds it */
export interface ConnectReport extends Environment {
  benchmark: 'connect'
  seed: number
  rivals: Array<{ name: string, title: string, versions: Record<string, string> }>
  skipped: Skipped[]

  /** Each holds every sample in milliseconds, and what they come to. */
  links: Array<LinkRuns & { summary: RivalSummary[] }>
}

/** A contender that could not be prepared */
export interface Skipped {
  rival: string
  reason: string
}

/**
 * What the runs of one rival over one link come to, in milliseconds. The handshake is
 * that of security and muxer; where a stack does not tell it from the TCP connection,
 * both are of no samples.
 */
export interface RivalSummary extends Record<'connect' | 'handshake' | 'stream' | 'firstByte' | 'total' | 'close', Summary> {
  rival: string
  title: string
  failures: number

  /**
   * The median total in round trips of the link, with those that it hides. NaN
   * over a link without delay, where they say nothing.
   */
  roundTrips: number

  /**
   * The median total against that of the reference, both with the round trips
   * that the link hides. NaN without a reference.
   */
  ratio: number

  /** True where the spreads of the totals overlap: the ratio may be noise. */
  noisy: boolean
}
