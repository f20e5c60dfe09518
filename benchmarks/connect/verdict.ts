import { trips } from '../report/numbers.ts'
import type { LinkRuns } from './run.ts'
import type { RivalSummary } from './summary.ts'
import type { Summary } from '../statistics.ts'

/**
 * Differences below this many round trips are programs at work.
 */
const A_TRIP = 0.35

/**
 * Which step costs what, in one sentence. Undefined where the link is too short
 * to tell or nothing was measured.
 */
export function verdict (link: LinkRuns, summaries: RivalSummary[]): string | undefined {
  const measured = summaries.filter(({ roundTrips }) => !Number.isNaN(roundTrips))
  const stacks = measured.filter(({ rival }) => rival !== 'floor')
  const official = stacks.find(({ rival }) => rival === 'official') ?? stacks[0]

  if (official == null) {
    return undefined
  }

  const clauses = [
    `with a round trip of ${link.roundTrip.toFixed(0)} ms, the first byte over ${official.title} ${trip(official.roundTrips)} (${steps(link, official)})`
  ]

  for (const summary of stacks) {
    if (summary === official) {
      continue
    }

    const saved = official.roundTrips - summary.roundTrips
    const change = Math.abs(saved) < A_TRIP ? 'saves none of them' : `${saved > 0 ? 'saves' : 'adds'} ${trips(Math.abs(saved))}`
    const detail = summary.rival === 'ours' ? ` (${steps(link, summary)})` : ''

    clauses.push(`${summary.title} ${change}${detail}`)
  }

  return `${sentence(clauses)}.`
}

function steps (link: LinkRuns, { connect, handshake, stream, firstByte }: RivalSummary): string {
  const roundTrips = ({ median }: Summary): number => median / link.roundTrip

  return [
    { name: 'to connect', count: roundTrips(connect) + link.hiddenRoundTrips },
    { name: 'for the handshake', count: roundTrips(handshake) },
    { name: 'to open the stream', count: roundTrips(stream) },
    { name: 'for the byte', count: roundTrips(firstByte) }
  ]
    // not every stack tells them apart
    .filter(({ count }) => !Number.isNaN(count))
    .map(({ name, count }) => `${trips(count)} ${name}`)
    .join(', ')
}

function trip (count: number): string {
  return `costs ${trips(count)} round trips`
}

function sentence (clauses: string[]): string {
  const text = clauses.join('; ')

  return text[0].toUpperCase() + text.slice(1)
}
