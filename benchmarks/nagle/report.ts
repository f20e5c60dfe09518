import { readFileSync } from 'node:fs'
import path from 'node:path'
import { environment } from '../report/environment.ts'
import { installedVersions } from '../rivals/installed.ts'
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
  const root = packageRoot()
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))

  return {
    benchmark: 'nagle',
    ...environment(command),
    versions: { 'libp2p-fast-tcp': version, ...installedVersions(root, ['@libp2p/tcp']) },
    messages,
    spacing,
    seed,
    cases: CASES,
    links
  }
}
