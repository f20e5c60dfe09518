/* eslint-disable no-console */
import { openLink } from '../link/open-link.ts'
import { withCleanUp } from '../run/interrupt.ts'
import { progress } from '../run/progress.ts'
import { seededRandom } from '../run/random.ts'
import { CASES } from './cases.ts'
import { measure } from './measure.ts'
import { nagleReport } from './report.ts'
import { missing } from './requirements.ts'
import { saveNagle } from './save.ts'
import { nagleText } from './text.ts'
import type { NagleRun } from './measure.ts'
import type { Link } from '../link/link.ts'

export interface NagleOptions {
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

  /**
   * Where the results go.
   */
  directory: string
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
 * Shows Nagle's algorithm at work and what TCP_NODELAY changes. Says what is
 * missing, and does nothing, where the machine cannot.
 */
export async function runNagle (options: NagleOptions): Promise<void> {
  const lacking = missing()

  if (lacking.length > 0) {
    console.log(`Nagle's algorithm is at work between two kernels: a proxy cannot show it. This needs\n${lacking.map(need => `- ${need}`).join('\n')}\nNothing was measured.`)
    return
  }

  const shown = progress(options.roundTrips.length * (1 + CASES.length * options.runs))
  const links: NagleLink[] = []

  try {
    for (const roundTrip of options.roundTrips) {
      shown.step(`opening a link with a round trip of ${roundTrip} ms and measuring it`)
      const link = await openKernelLink(roundTrip / 2)

      if (link == null) {
        return
      }

      links.push(await withCleanUp(async () => link.close(), async () => measureOver(link, options, message => { shown.step(message) })))
    }
  } finally {
    shown.stop()
  }

  const report = nagleReport(links, options)
  const files = await saveNagle(report, options.directory)

  console.log(`\n${nagleText(report)}\n\nWritten: ${files.join(', ')}`)
}

async function measureOver (link: Link, { runs, messages, spacing, seed }: NagleOptions, onStep: (message: string) => void): Promise<NagleLink> {
  const measured = await measure(link, { cases: CASES, runs, messages, spacing, random: seededRandom(seed), onStep })
  const { kind, title, shape, roundTrip, passedOver } = link

  return { kind, title, shape, roundTrip, passedOver, runs: measured }
}

/**
 * Undefined, and said why, where neither kind works.
 */
async function openKernelLink (delay: number): Promise<Link | undefined> {
  const reasons: string[] = []

  for (const kind of LINK_KINDS) {
    try {
      return await openLink({ delay }, kind)
    } catch (err: any) {
      reasons.push(err.message)
    }
  }

  console.log(`This machine can make neither kind of link with the kernel's TCP at both ends:\n${reasons.map(reason => `- ${reason}`).join('\n')}\nNothing was measured.`)

  return undefined
}
