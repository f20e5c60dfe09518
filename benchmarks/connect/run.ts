import { openLink } from '../link/open-link.ts'
import { roundTripTo } from '../link/round-trip.ts'
import { addressOf } from '../rivals/address.ts'
import { withCleanUp } from '../run/interrupt.ts'
import { progress } from '../run/progress.ts'
import { seededRandom } from '../run/random.ts'
import { startContenders, startDiallers } from './contenders.ts'
import { interleave } from './interleave.ts'
import type { Contender } from './contenders.ts'
import type { Run } from './interleave.ts'
import type { Link, LinkKind, LinkParts, LinkShape } from '../link/link.ts'
import type { Rival } from '../rivals/rival.ts'

export interface ConnectOptions {
  rivals: Rival[]
  runs: number
  warmUps: number
  seed: number
}

/**
 * Every dial over one link
 */
export interface LinkRuns extends Pick<LinkParts, 'title' | 'hiddenRoundTrips'>, Partial<Pick<Link, 'shape' | 'passedOver'>> {
  kind: LinkKind | 'network'
  roundTrip: number
  runs: Run[]
}

/**
 * Times the first byte of a new connection of each rival over one link.
 */
export async function connectOver (shape: LinkShape, kind: LinkKind | undefined, options: ConnectOptions): Promise<LinkRuns> {
  const link = await openLink(shape, kind)

  return withCleanUp(async () => link.close(), async () => {
    const runs = await timed(options, link.kind, async onStart => startContenders(link, options.rivals, onStart))
    const { kind, title, hiddenRoundTrips, roundTrip, passedOver } = link

    return { kind, title, shape, hiddenRoundTrips, roundTrip, passedOver, runs }
  })
}

/**
 * Times dials to a peer that listens on this or another machine.
 */
export async function connectTo (multiaddr: string, options: ConnectOptions): Promise<LinkRuns> {
  const roundTrip = await roundTripTo(addressOf(multiaddr))
  const link = await openLink({ delay: 0 })

  return withCleanUp(async () => link.close(), async () => {
    const runs = await timed(options, 'the network', async onStart => startDiallers(link, options.rivals, multiaddr, onStart))

    return { kind: 'network', title: `the network to ${multiaddr}`, hiddenRoundTrips: 0, roundTrip, runs }
  })
}

async function timed (options: ConnectOptions, title: string, start: (onStart: (rival: Rival) => void) => Promise<Contender[]>): Promise<Run[]> {
  const steps = options.rivals.length * (1 + options.warmUps + options.runs)
  const shown = progress(steps)

  try {
    const contenders = await start(rival => { shown.step(`starting ${rival.name} over ${title}`) })

    return await interleave(contenders, {
      ...options,
      random: seededRandom(options.seed),
      onRun: ({ rival }) => { shown.step(`dialled ${rival.name} over ${title}`) }
    })
  } finally {
    shown.stop()
  }
}
