import { environment } from '../report/environment.ts'
import { summariseLink } from './summary.ts'
import type { ConnectOptions, LinkRuns } from './run.ts'
import type { RivalSummary } from './summary.ts'
import type { Environment } from '../report/environment.ts'

/**
 * All that is known of a connect benchmark, as its JSON file holds it
 */
export interface ConnectReport extends Environment {
  benchmark: 'connect'
  seed: number
  rivals: Array<{ name: string, title: string, versions: Record<string, string> }>
  skipped: Skipped[]

  /**
   * Each holds every sample in milliseconds, and what they come to.
   */
  links: Array<LinkRuns & { summary: RivalSummary[] }>
}

/**
 * A rival that could not be prepared
 */
export interface Skipped {
  rival: string
  reason: string
}

export function connectReport (links: LinkRuns[], { command, rivals, seed }: ConnectOptions & { command: string }, skipped: Skipped[]): ConnectReport {
  return {
    benchmark: 'connect',
    ...environment(command),
    seed,
    rivals: rivals.map(rival => ({ name: rival.name, title: rival.title, versions: rival.versions() })),
    skipped,
    links: links.map(link => ({ ...link, summary: summariseLink(link, rivals) }))
  }
}
