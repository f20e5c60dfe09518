import { openLink } from '../link/open-link.ts'
import { withCleanUp } from '../run/interrupt.ts'
import { progress } from '../run/progress.ts'
import { seededRandom } from '../run/random.ts'
import { CASES } from './cases.ts'
import { measure } from './measure.ts'
import { nagleReport } from './report.ts'
import { missing } from './requirements.ts'
import type { NagleRun } from './measure.ts'
import type { NagleReport } from './report.ts'
import type { Link } from '../link/link.ts'

export interface NagleOptions {
  /**
   * What to type to do this again.
   */
  command: string

  /**
   * Round trips of the links, in milliseconds.
   */
  roundTrips: number[]
  runs: number
  messages: number

  /**
   * Milliseconds between writes.
   */
  spacing: number

  /**
   * For the order of the cases.
   */
  seed: number
}

export interface NagleLink extends Pick<Link, 'kind' | 'title' | 'shape' | 'roundTrip' | 'passedOver'> {
  runs: NagleRun[]
}

/**
 * Kernel TCP at both ends. What leaves a TUN device is captured when it is sent,
 * behind tc netem it is captured when it comes: that is the better one here.
 */
const LINK_KINDS = ['relay', 'netem'] as const

/**
 * Shows Nagle's algorithm at work and what TCP_NODELAY changes.
 *
 * @returns what this machine lacks where it cannot
 */
export async function runNagle (options: NagleOptions): Promise<NagleReport | string> {
  const lacking = missing()

  if (lacking.length > 0) {
    return `Nagle's algorithm is at work between two kernels: a proxy cannot show it. This needs\n${bullets(lacking)}`
  }

  const shown = progress(options.roundTrips.length * (1 + CASES.length * options.runs))
  const links: NagleLink[] = []

  try {
    for (const roundTrip of options.roundTrips) {
      shown.step(`opening a link with a round trip of ${roundTrip} ms and measuring it`)
      const link = await openKernelLink(roundTrip / 2)

      if (typeof link === 'string') {
        return link
      }

      links.push(await withCleanUp(async () => link.close(), async () => measureOver(link, options, message => { shown.step(message) })))
    }
  } finally {
    shown.stop()
  }

  return nagleReport(links, options)
}

async function measureOver (link: Link, { runs, messages, spacing, seed }: NagleOptions, onStep: (message: string) => void): Promise<NagleLink> {
  const measured = await measure(link, { cases: CASES, runs, messages, spacing, random: seededRandom(seed), onStep })
  const { kind, title, shape, roundTrip, passedOver } = link

  return { kind, title, shape, roundTrip, passedOver, runs: measured }
}

/**
 * @returns why, where neither kind works
 */
async function openKernelLink (delay: number): Promise<Link | string> {
  const reasons: string[] = []

  for (const kind of LINK_KINDS) {
    try {
      return await openLink({ delay }, kind)
    } catch (err: any) {
      reasons.push(err.message)
    }
  }

  return `This machine can make neither kind of link with the kernel's TCP at both ends:\n${bullets(reasons)}`
}

function bullets (lines: string[]): string {
  return lines.map(line => `- ${line}`).join('\n')
}
