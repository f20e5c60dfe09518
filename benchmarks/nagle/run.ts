import { spawnSync } from 'node:child_process'
import { openLink } from '../../test/lab/link/open-link.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { progress } from '../../test/lab/process/progress.ts'
import { CASES } from './cases.ts'
import { measure } from './measure.ts'
import { nagleReport } from './report.ts'
import type { NagleLink, NagleOptions, NagleReport } from './report.ts'
import type { Link } from '../../test/lab/link/link.ts'

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

      const { kind, title, shape, passedOver } = link
      const runs = await withCleanUp(async () => link.close(), async () => measure(link, options, message => { shown.step(message) }))
      links.push({ kind, title, shape, roundTrip: link.roundTrip, passedOver, runs })
    }
  } finally {
    shown.stop()
  }

  return nagleReport(links, options)
}

/** @returns why, where neither kind works */
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

/**
 * What this machine lacks to run two kernels' TCP over a link of our own and to
 * capture it, in words. Empty where nothing is missing.
 */
export function missing (): string[] {
  const runs = (file: string, ...args: string[]): boolean => spawnSync(file, args, { stdio: 'ignore' }).status === 0

  return [
    ...(process.platform === 'linux' ? [] : ['Linux, for network namespaces']),
    ...(process.getuid?.() === 0 ? [] : ['root, for network namespaces and captures']),
    ...(runs('ip', '-V') ? [] : ['ip (apt-get install iproute2)']),
    ...(runs('tcpdump', '--version') ? [] : ['tcpdump (apt-get install tcpdump)'])
  ]
}
