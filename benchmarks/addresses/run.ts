import { openLink } from '../../test/lab/link/open-link.ts'
import { multiaddrOf } from '../../test/lab/peers/address.ts'
import { withCleanUp } from '../../test/lab/process/interrupt.ts'
import { progress } from '../../test/lab/process/progress.ts'
import { seededRandom, shuffled } from '../../test/lab/process/random.ts'
import { environment } from '../../test/lab/report/environment.ts'
import { isProgram, openEnds, startWorkers } from './ends.ts'
import { HOSTS, NETWORKS, addNetworks } from './network.ts'
import type { Listening } from './ends.ts'
import type { AddressesReport, CostRow, CrawlRow, Dead, DialRow, StackName } from './report.ts'
import type { Link } from '../../test/lab/link/link.ts'

export interface AddressesInit {
  /** One way, in ms */
  delay: number
  stacks: StackName[]
  dead: Dead[]
  counts: number[]
  rounds: number

  /** Of dials to a live first address, with the race and without */
  batches: number

  /** How many are crawled, 0 for no crawl */
  peers: number

  /** How long a crawl may take, in s */
  limit: number
  seed: number
  command: string
}

/** Of each peer that is crawled, and how many of all those are dead */
const ADDRESSES = 6
const DEAD_SHARE = 0.63

/** What takes longer, in ms, waits for a timer of libp2p's: to measure it once is enough */
const TIMEOUT = 5_000

/** How many dials make a batch */
const BATCH = 50

export async function runAddresses (init: AddressesInit): Promise<AddressesReport> {
  const { delay, stacks, dead, counts, rounds, batches, peers, limit, seed, command } = init
  const link = await openLink({ delay }, 'relay')
  const workers = stacks.filter(stack => !isProgram(stack))
  const shown = progress(stacks.length * dead.length * counts.length * rounds + workers.length * (counts.length + (peers > 0 ? 1 : 0)) + (batches > 0 ? 1 : 0))

  return withCleanUp(async () => link.close(), async () => {
    addNetworks(link)

    const report: AddressesReport = {
      benchmark: 'addresses',
      ...environment(command),
      link: link.title,
      roundTrip: link.roundTrip,
      rounds,
      dials: [],
      again: [],
      cost: [],
      crawl: { peers, addresses: ADDRESSES, dead: DEAD_SHARE, limit, seed, rows: [] }
    }

    try {
      for (const stack of stacks) {
        await measureDials(link, stack, init, report, shown.step)
      }

      if (batches > 0) {
        shown.step('a live first address')
        report.cost = await measureCost(batches)
      }

      for (const stack of peers > 0 ? workers : []) {
        shown.step(`${stack}: crawl`)
        report.crawl.rows.push(await crawl(link, stack, init))
      }
    } finally {
      shown.stop()
    }

    return report
  })
}

async function measureDials (link: Link, stack: StackName, { dead, counts, rounds }: AddressesInit, report: AddressesReport, onStep: (what: string) => void): Promise<void> {
  const { dial, dialAgain, end, listening } = await openEnds(link, stack)

  // what runs is compiled
  for (let i = 0; i < 5; i++) {
    await dial(addressesOf(listening, 'silent', 0))
  }

  for (const [kind, count] of dead.flatMap(kind => counts.map(count => [kind, count] as const))) {
    const row: DialRow = { stack, dead: kind, count, dials: [] }

    for (let round = 0; round < rounds && row.dials.every(({ lasted }) => lasted < TIMEOUT); round++) {
      onStep(`${stack}: ${count} ${kind}`)
      row.dials.push(await dial(addressesOf(listening, kind, count)))
    }

    report.dials.push(row)
  }

  for (const count of dialAgain == null ? [] : counts) {
    onStep(`${stack}: again behind ${count} silent`)
    report.again.push({ stack, count, dials: (await dialAgain?.(addressesOf(listening, 'silent', count), stack === 'official' ? 2 : 1 + rounds) ?? []).slice(1) })
  }

  await end()
}

/** Over loopback: nothing but the processor takes time */
async function measureCost (batches: number): Promise<CostRow[]> {
  const link = await openLink({ delay: 0 })

  return withCleanUp(async () => link.close(), async () => {
    const [listener, dialer] = await startWorkers(link, 'ours')
    const { peer, ports } = await listener.ask('listen')
    const addresses = [ports.live, ports.refused, ports.mute].map(port => multiaddrOf({ host: '127.0.0.1', port }, peer))

    // what runs is compiled
    await dialer.ask('cost', addresses, 2, BATCH)

    return dialer.ask('cost', addresses, batches, BATCH)
  })
}

/** A peer's address behind dead ones */
function addressesOf ({ peer, ports }: Listening, kind: Dead, count: number): string[] {
  const at = (host: string, port: number): string => multiaddrOf({ host, port }, peer)

  return [
    ...Array.from({ length: count }, (_, n) => {
      switch (kind) {
        case 'silent':
        case 'unreachable':
        case 'no-route': return at(NETWORKS[kind](n), ports.refused)
        case 'no-ipv6': return at(`2a00::${1 + n}`, ports.refused)
        default: return at(NETWORKS.live(n), ports[kind])
      }
    }),
    at(NETWORKS.live(HOSTS - 1), ports.live)
  ]
}

async function crawl (link: Link, stack: StackName, { peers, limit, seed }: AddressesInit): Promise<CrawlRow> {
  const [listener, dialer] = await startWorkers(link, stack)
  const random = seededRandom(seed)
  const total = peers * ADDRESSES
  const isDead = shuffled(Array.from({ length: total }, (_, i) => i < total * DEAD_SHARE), random)
  let silent = 0

  const addresses = (await listener.ask('listenMany', peers)).map(({ peer, port }, i) => (
    isDead.slice(i * ADDRESSES, (i + 1) * ADDRESSES).map((isDead, n) => multiaddrOf({ host: isDead ? NETWORKS.silent(silent++) : NETWORKS.live(n), port }, peer))
  ))
  const reachable = addresses.filter((_, i) => isDead.slice(i * ADDRESSES, (i + 1) * ADDRESSES).includes(false)).length
  const row = await dialer.ask('crawl', addresses, reachable, limit * 1_000)

  await Promise.all([listener.end(), dialer.end()])

  return { stack, ...row }
}
