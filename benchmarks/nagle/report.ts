import { installedVersions, ourVersion } from '../../test/lab/peers/versions.ts'
import { environment } from '../../test/lab/report/environment.ts'
import { CASES } from './cases.ts'
import type { NagleCase } from './cases.ts'
import type { Segment } from './segments.ts'
import type { Link } from '../../test/lab/link/link.ts'
import type { Environment } from '../../test/lab/report/environment.ts'

export interface NagleOptions {
  /** What to type to do this again. */
  command: string

  /** Round trips of the links, in milliseconds. */
  roundTrips: number[]
  runs: number
  messages: number

  /** Milliseconds between writes. */
  spacing: number

  /** For the order of the cases. */
  seed: number
}

/** One connection. Times are in milliseconds since its first write. */
export interface NagleRun {
  case: string

  /** Counted from 1. */
  run: number
  writes: number[]

  /** When the receiver's program was given each message. */
  arrivals: number[]
  segments: Segment[]
}

export interface NagleLink extends Pick<Link, 'kind' | 'title' | 'shape' | 'roundTrip' | 'passedOver'> {
  runs: NagleRun[]
}

/** All that is known of a run, as its JSON file holds it */
export interface NagleReport extends Environment, Pick<NagleOptions, 'messages' | 'spacing' | 'seed'> {
  benchmark: 'nagle'
  versions: Record<string, string>
  cases: NagleCase[]

  /** Each holds every write, arrival and segment. */
  links: NagleLink[]
}

export function nagleReport (links: NagleLink[], { command, messages, spacing, seed }: NagleOptions): NagleReport {
  return {
    benchmark: 'nagle',
    ...environment(command),
    versions: { ...ourVersion(), ...installedVersions(['@libp2p/tcp']) },
    messages,
    spacing,
    seed,
    cases: CASES,
    links
  }
}
