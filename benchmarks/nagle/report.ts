import { readFileSync } from 'node:fs'
import path from 'node:path'
import { environment } from '../report/environment.ts'
import { installedVersions } from '../rivals/installed.ts'
import { packageRoot } from '../script-path.ts'
import { CASES } from './cases.ts'
import type { NagleCase } from './cases.ts'
import type { NagleLink, NagleOptions } from './run-nagle.ts'
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

export function nagleReport (links: NagleLink[], { messages, spacing, seed }: NagleOptions): NagleReport {
  const root = packageRoot()
  const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))

  return {
    benchmark: 'nagle',
    ...environment(),
    command: command(),
    versions: { 'libp2p-fast-tcp': version, ...installedVersions(root, ['@libp2p/tcp']) },
    messages,
    spacing,
    seed,
    cases: CASES,
    links
  }
}

/**
 * As it was typed, but for the name of a subcommand.
 */
function command (): string {
  const flags = process.argv.slice(2).filter(argument => argument !== 'nagle')

  return ['npm run benchmark:nagle', ...(flags.length === 0 ? [] : ['--', ...flags])].join(' ')
}
