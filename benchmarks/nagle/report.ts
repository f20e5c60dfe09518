import { environment } from '../report/environment.ts'
import { installedVersions, ourVersion } from '../rivals/installed.ts'
import { packageRoot } from '../script-path.ts'
import { CASES } from './cases.ts'
import type { NagleCase } from './cases.ts'
import type { NagleLink, NagleOptions } from './run.ts'
import type { Environment } from '../report/environment.ts'

/**
 * All that is known of a run, as its JSON file holds it
 */
export interface NagleReport extends Environment, Pick<NagleOptions, 'messages' | 'spacing' | 'seed'> {
  benchmark: 'nagle'
  versions: Record<string, string>
  cases: NagleCase[]

  /**
   * Each holds every write, arrival and segment.
   */
  links: NagleLink[]
}

export function nagleReport (links: NagleLink[], { command, messages, spacing, seed }: NagleOptions): NagleReport {
  return {
    benchmark: 'nagle',
    ...environment(command),
    versions: { ...ourVersion(), ...installedVersions(packageRoot(), ['@libp2p/tcp']) },
    messages,
    spacing,
    seed,
    cases: CASES,
    links
  }
}
