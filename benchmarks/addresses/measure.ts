import { openLink } from '../../test/lab/link/open-link.ts'
import { multiaddrOf } from '../../test/lab/peers/address.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { seededRandom, shuffled } from '../../test/lab/process/random.ts'
import { inTurn } from '../in-turn.ts'
import { isProgram, openEnds, startWorkers } from './ends.ts'
import { HOSTS, NETWORKS, addNetworks } from './network.ts'
import type { Ends, Listening, StackName } from './ends.ts'
import type { Dialed } from './worker.ts'
import type { Link } from '../../test/lab/link/link.ts'
import type { Measurements } from '../../test/lab/measure/measurements.ts'
import type { Job } from '../in-turn.ts'
import type { Report } from '../series.ts'

/**
 * What is dead about an address: packets to it vanish (`silent`), nobody listens (`refused`), this host has
 * no route to it, or it accepts and never speaks (`mute`)
 */
export const DEAD = ['silent', 'refused', 'no-route', 'mute'] as const

export type Dead = typeof DEAD[number]

export interface AddressesInit {
  /** One way, in ms */
  delay: number
  stacks: StackName[]
  dead: Dead[]
  counts: number[]
  rounds: number

  /** How many are crawled, 0 for no crawl */
  peers: number

  /** How long a crawl may take, in s */
  limit: number
  seed: number
}

export interface AddressesReport extends Report {
  link: string
  roundTrip: number

  /** When each peer of a crawl was connected, in ms since the first dial */
  crawls: Array<{ rival: string, lasted: number, connected: number[] }>
  crawl: { peers: number, addresses: number, dead: number, reachable: number }
}

type Outcome = Pick<AddressesReport, 'link' | 'roundTrip' | 'series' | 'crawls' | 'crawl'> & { failures: string[] }

/** Of each peer that is crawled, and how many of all those are dead */
const ADDRESSES = 6
const DEAD_SHARE = 0.63

/** What takes longer, in ms, waits for a timer of libp2p's: to measure it once is enough */
const TIMEOUT = 5_000

/** Dials before the first that counts: they compile what runs */
const WARM_UPS = 5

export async function measureAddresses (init: AddressesInit): Promise<Outcome> {
  const { delay, stacks, rounds, peers, seed } = init
  const link = await openLink({ delay }, 'relay')
  const crawls: AddressesReport['crawls'] = []
  const plan = crawlPlan(init)

  return withCleanUp(async () => link.close(), async () => {
    addNetworks(link)
    const ends = new Map(await Promise.all(stacks.map(async stack => [stack, await openEnds(link, stack)] as const)))
    const jobs: Job[] = []

    for (const [stack, pair] of ends) {
      jobs.push(...await dialsOf(stack, pair, init))
    }

    const outcomes = [
      await inTurn(jobs, { rounds, seed }).finally(async () => Promise.all([...ends.values()].map(async pair => pair.end()))),
      ...peers > 0 ? [await inTurn(stacks.filter(stack => !isProgram(stack)).map(stack => crawlOf(link, stack, plan, init, crawls)), { rounds: 1, seed })] : []
    ]

    return {
      link: link.title,
      roundTrip: link.roundTrip,
      series: outcomes.flatMap(({ series }) => series),
      failures: outcomes.flatMap(({ failures }) => failures),
      crawls,
      crawl: { peers, addresses: ADDRESSES, dead: DEAD_SHARE, reachable: plan.reachable }
    }
  })
}

/** Each dial is made by a node that knows nothing of the peer; those of `again` are the second ones of a node */
async function dialsOf (stack: StackName, { dial, dialAgain, listening }: Ends, { dead, counts }: AddressesInit): Promise<Job[]> {
  for (let i = 0; i < WARM_UPS; i++) {
    await dial(addressesOf(listening, 'silent', 0))
  }

  const job = (group: string, row: string, dialed: () => Promise<Dialed>): Job => {
    let isSlow = false

    return {
      group,
      row,
      rival: stack,
      async measure () {
        const { ms = NaN, lasted, sockets } = isSlow ? { lasted: NaN, sockets: NaN } : await dialed()
        isSlow ||= lasted > TIMEOUT

        return [
          { metric: 'time', unit: 'ms', value: ms },
          { metric: 'lasted', unit: 'ms', value: lasted },
          { metric: 'sockets', unit: '', value: sockets }
        ]
      }
    }
  }

  return [
    ...dead.flatMap(kind => counts.map(count => job('dials', `${count} ${kind}`, async () => dial(addressesOf(listening, kind, count))))),
    ...dialAgain == null ? [] : counts.map(count => job('second dials', `${count} silent`, async () => dialAgain(addressesOf(listening, 'silent', count))))
  ]
}

/** A peer's address behind dead ones */
function addressesOf ({ peer, ports }: Listening, kind: Dead, count: number): string[] {
  const at = (host: string, port: number): string => multiaddrOf({ host, port }, peer)

  return [
    ...Array.from({ length: count }, (_, n) => {
      switch (kind) {
        case 'silent':
        case 'no-route': return at(NETWORKS[kind](n), ports.refused)
        default: return at(NETWORKS.live(n), ports[kind])
      }
    }),
    at(NETWORKS.live(HOSTS - 1), ports.live)
  ]
}

interface CrawlPlan {
  /** By peer and address */
  isDead: boolean[][]

  /** How many peers have a live address */
  reachable: number
}

function crawlPlan ({ peers, seed }: AddressesInit): CrawlPlan {
  const total = peers * ADDRESSES
  const all = shuffled(Array.from({ length: total }, (_, i) => i < total * DEAD_SHARE), seededRandom(seed))
  const isDead = Array.from({ length: peers }, (_, i) => all.slice(i * ADDRESSES, (i + 1) * ADDRESSES))

  return { isDead, reachable: isDead.filter(peer => peer.includes(false)).length }
}

/** Ends when every reachable peer is connected, or after a limit */
function crawlOf (link: Link, stack: StackName, { isDead, reachable }: CrawlPlan, { peers, limit }: AddressesInit, crawls: AddressesReport['crawls']): Job {
  return {
    group: 'crawl',
    row: `${peers} peers`,
    rival: stack,

    async measure (): Promise<Measurements> {
      const [listener, dialer] = await startWorkers(link, stack)
      let silent = 0
      const addresses = (await listener.ask('listenMany', peers)).map(({ peer, port }, i) => (
        isDead[i].map((isDead, n) => multiaddrOf({ host: isDead ? NETWORKS.silent(silent++) : NETWORKS.live(n), port }, peer))
      ))
      const { connected, lasted, sockets, syns, cpu } = await dialer.ask('crawl', addresses, reachable, limit * 1_000)

      await Promise.all([listener.end(), dialer.end()])
      crawls.push({ rival: stack, lasted, connected: connected.map(Math.round) })

      return [
        { metric: 'connected', unit: 'peers', value: connected.length },
        ...[0.5, 0.9, 1].map(share => ({ metric: `${share * 100} %`, unit: 's', value: (connected[Math.ceil(reachable * share) - 1] ?? NaN) / 1_000 })),
        { metric: 'sockets', unit: '', value: sockets },
        { metric: 'SYNs', unit: '', value: syns },
        { metric: 'CPU', unit: 's', value: cpu / 1_000 }
      ]
    }
  }
}
