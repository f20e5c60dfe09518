import { endWorkers, startWorker } from '../process/worker.ts'
import { scriptPath } from '../script-path.ts'
import { namespaceLink } from './namespace-link.ts'
import { loopbackLink, proxyLink } from './proxy-link.ts'
import type { Link, LinkKind, LinkParts, LinkShape } from './link.ts'
import type { ProbeTasks } from './probe.ts'
import type { WorkerGroup } from '../process/worker.ts'

export const LINK_KINDS: LinkKind[] = ['netem', 'relay', 'proxy', 'loopback']

const PROBES = 9

/**
 * Opens a link and measures its round trip.
 *
 * @param shape - what the link is to do to packets
 * @param kind - by default the best one that works on this machine: loopback where no delay is asked for
 */
export async function openLink (shape: LinkShape, kind?: LinkKind): Promise<Link> {
  const passedOver: Link['passedOver'] = []

  for (const candidate of candidates(shape, kind)) {
    try {
      return await measured(await makeLink(candidate, shape), shape, passedOver)
    } catch (err: any) {
      passedOver.push({ kind: candidate, reason: err.message })
    }
  }

  throw new Error(`No link: ${passedOver.map(({ kind, reason }) => `${kind}: ${reason}`).join('; ')}`)
}

function candidates (shape: LinkShape, kind?: LinkKind): LinkKind[] {
  if (kind != null) {
    return [kind]
  }

  if (shape.bottleneck != null || shape.loss != null) {
    return ['relay']
  }

  if (shape.congestion != null) {
    return ['netem', 'relay']
  }

  return shape.delay === 0 ? ['loopback'] : ['netem', 'relay', 'proxy']
}

async function makeLink (kind: LinkKind, shape: LinkShape): Promise<LinkParts> {
  if (kind === 'loopback') {
    return loopbackLink()
  }

  return kind === 'proxy' ? proxyLink(shape) : namespaceLink(kind, shape)
}

async function measured (parts: LinkParts, shape: LinkShape, passedOver: Link['passedOver']): Promise<Link> {
  const group: WorkerGroup = new Set()

  const link: Link = {
    ...parts,
    shape,
    passedOver,
    roundTrip: NaN,
    start: async (end, init) => startWorker({ ...init, under: parts.commandAt(end, []), group }),
    async close () {
      await endWorkers(group)
      await parts.close()
    }
  }

  try {
    link.roundTrip = await probe(link)
  } catch (err) {
    await link.close()
    throw err
  }

  return link
}

async function probe (link: Link): Promise<number> {
  const probes = await Promise.all((['listener', 'dialer'] as const).map(async end => (
    link.start<ProbeTasks>(end, { script: scriptPath(import.meta.url, 'probe'), name: `The ${end}'s probe` })
  )))

  try {
    const [listener, dialer] = probes
    const port = await listener.ask('listen', link.listenHost)

    return await dialer.ask('roundTripTo', await link.dialAddress(port), PROBES, link.hiddenRoundTrips > 0 ? 'echo' : 'connect')
  } finally {
    await Promise.all(probes.map(async probe => probe.end()))
  }
}
