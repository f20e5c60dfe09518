import { addressOf, atAddress } from '../rivals/address.ts'
import { scriptPath } from '../script-path.ts'
import { workerOf } from '../workers/worker.ts'
import type { Link, LinkEnd } from '../link/link.ts'
import type { PeerTasks } from '../rivals/peer.ts'
import type { Rival, Sample } from '../rivals/rival.ts'
import type { Worker } from '../workers/worker.ts'

/**
 * A rival that is up and can be timed
 */
export interface Contender {
  rival: Rival
  dial(): Promise<Sample>
}

/**
 * Starts a listener and a dialler of each rival at the ends of a link.
 */
export async function startContenders (link: Link, rivals: Rival[], onStart: (rival: Rival) => void): Promise<Contender[]> {
  return inTurn(rivals, async rival => {
    onStart(rival)
    const [listener, dialler] = await Promise.all([
      startPeer(link, 'listener', rival),
      startPeer(link, 'dialler', rival)
    ])
    const [listening] = await listener.ask('listen', link.listenHost)
    const multiaddr = atAddress(listening, await link.dialAddress(addressOf(listening).port))

    return { rival, dial: async () => dialler.ask('dial', multiaddr) }
  })
}

/**
 * Starts a dialler of each rival for a peer that listens elsewhere.
 */
export async function startDiallers (link: Link, rivals: Rival[], multiaddr: string, onStart: (rival: Rival) => void): Promise<Contender[]> {
  return inTurn(rivals, async rival => {
    onStart(rival)
    const dialler = await startPeer(link, 'dialler', rival)

    return { rival, dial: async () => dialler.ask('dial', multiaddr) }
  })
}

/**
 * A process that ends with the link.
 */
async function startPeer (link: Link, end: LinkEnd, rival: Rival): Promise<Worker<PeerTasks>> {
  return workerOf<PeerTasks>(link.run(end, scriptPath(import.meta.url, '../rivals/peer'), [rival.name, end]), `${rival.name} ${end}`)
}

async function inTurn <T, R> (items: T[], fn: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []

  for (const item of items) {
    results.push(await fn(item))
  }

  return results
}
