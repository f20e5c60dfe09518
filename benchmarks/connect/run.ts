import { openLink } from '../../test/lab/link/open-link.ts'
import { roundTripTo } from '../../test/lab/link/round-trip.ts'
import { addressOf, atAddress } from '../../test/lab/peers/address.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { progress } from '../../test/lab/process/progress.ts'
import { seededRandom, shuffled } from '../../test/lab/process/random.ts'
import { environment } from '../../test/lab/report/environment.ts'
import { scriptPath } from '../../test/lab/script-path.ts'
import { summariseLink } from './summary.ts'
import type { ConnectReport, LinkRuns, Run, Skipped } from './report.ts'
import type { ConnectTasks } from './worker.ts'
import type { Link, LinkEnd, LinkKind, LinkShape } from '../../test/lab/link/link.ts'
import type { Contender, FirstByte } from '../../test/lab/peers/contender.ts'
import type { Worker } from '../../test/lab/process/worker.ts'

const PROBES = 5

export interface ConnectOptions {
  contenders: Contender[]
  runs: number

  /**
   * Runs before the first that counts: the first dial of a process compiles what
   * it runs.
   */
  warmUps: number
  seed: number
}

export interface Started {
  name: string
  dial(): Promise<FirstByte>
}

/** Times the first byte of a new connection of each contender over one link. */
export async function connectOver (shape: LinkShape, kind: LinkKind | undefined, options: ConnectOptions): Promise<LinkRuns> {
  const link = await openLink(shape, kind)

  return withCleanUp(async () => link.close(), async () => {
    const runs = await timed(options, link.kind, async contender => {
      const { dialer, multiaddr } = await startPeers(link, contender)

      return { name: contender.name, dial: async () => dialer.ask('dial', multiaddr) }
    })
    const { kind, title, hiddenRoundTrips, roundTrip, passedOver } = link

    return { kind, title, shape, hiddenRoundTrips, roundTrip, passedOver, runs }
  })
}

/** Times dials to a peer that listens on this or another machine. */
export async function connectTo (multiaddr: string, options: ConnectOptions): Promise<LinkRuns> {
  const roundTrip = await roundTripTo(addressOf(multiaddr), PROBES)
  const link = await openLink({ delay: 0 })

  return withCleanUp(async () => link.close(), async () => {
    const runs = await timed(options, 'the network', async contender => {
      const dialer = await startPeer(link, 'dialer', contender)

      return { name: contender.name, dial: async () => dialer.ask('dial', multiaddr) }
    })

    return { kind: 'network', title: `the network to ${multiaddr}`, hiddenRoundTrips: 0, roundTrip, runs }
  })
}

/** Both ends of a link, and what the dialer dials */
export async function startPeers (link: Link, contender: Contender): Promise<Record<LinkEnd, Worker<ConnectTasks>> & { multiaddr: string }> {
  const [listener, dialer] = await Promise.all([startPeer(link, 'listener', contender), startPeer(link, 'dialer', contender)])
  const [listening] = await listener.ask('listen', link.listenHost)

  return { listener, dialer, multiaddr: atAddress(listening, await link.dialAddress(addressOf(listening).port)) }
}

/** A process that ends with the link */
async function startPeer (link: Link, end: LinkEnd, { level, name }: Contender): Promise<Worker<ConnectTasks>> {
  return link.start<ConnectTasks>(end, { script: scriptPath(import.meta.url, 'worker'), args: [level, name], name: `${name} ${end}` })
}

async function timed (options: ConnectOptions, title: string, start: (contender: Contender) => Promise<Started>): Promise<Run[]> {
  const shown = progress(options.contenders.length * (1 + options.warmUps + options.runs))
  const started: Started[] = []

  try {
    for (const contender of options.contenders) {
      shown.step(`starting ${contender.name} over ${title}`)
      started.push(await start(contender))
    }

    return await interleave(started, {
      ...options,
      random: seededRandom(options.seed),
      onRun: name => { shown.step(`dialed ${name} over ${title}`) }
    })
  } finally {
    shown.stop()
  }
}

/**
 * Times every contender once in each round, in an order that changes from round
 * to round, so that a slow spell of the machine hits them all.
 */
export async function interleave (started: Started[], { runs, warmUps, random, onRun }: Pick<ConnectOptions, 'runs' | 'warmUps'> & { random(): number, onRun?(name: string): void }): Promise<Run[]> {
  const done: Run[] = []

  for (let run = 1 - warmUps; run <= runs; run++) {
    for (const { name, dial } of shuffled(started, random)) {
      try {
        done.push({ rival: name, run, sample: await dial() })
      } catch (err: any) {
        done.push({ rival: name, run, failure: err.message })
      }

      onRun?.(name)
    }
  }

  return done
}

export function connectReport (links: LinkRuns[], { command, contenders, seed }: { command: string, contenders: Contender[], seed: number }, skipped: Skipped[]): ConnectReport {
  return {
    benchmark: 'connect',
    ...environment(command),
    seed,
    rivals: contenders.map(({ name, title, versions }) => ({ name, title, versions: versions() })),
    skipped,
    links: links.map(link => ({ ...link, summary: summariseLink(link, contenders) }))
  }
}
