import { scriptPath } from '../lab/script-path.ts'
import { openLab } from './lab/lab.ts'
import { startPeer } from './lab/peer-process.ts'
import type { Security } from './cells.ts'
import type { Peer } from './lab/peer-process.ts'

export interface AtOnceCase {
  security: Security

  /** One way, in ms */
  delay: number

  /** Of each side */
  dials: number

  /** From the listening port, also where the peer's dial of another time was accepted */
  always: boolean
}

export const AT_ONCE_CASES: AtOnceCase[] = [
  { security: 'noise', delay: 0, dials: 100, always: true },
  { security: 'noise', delay: 4, dials: 1_000, always: false },
  { security: 'noise', delay: 40, dials: 100, always: true },
  { security: 'tls', delay: 40, dials: 100, always: true }
]

export interface AtOnceResult extends AtOnceCase {
  failed: number

  /** Dials that met that of the peer and were made again */
  redialed: number
  reasons: string[]
}

const TIMEOUT = 30_000

/**
 * Two public js nodes with `reusePort` dial each other at the same time, ping, and close, so many times. With
 * a distance between them their SYNs cross, and the two dials are one connection.
 */
export async function runAtOnce ({ security, delay, dials, always }: AtOnceCase, signal: AbortSignal): Promise<AtOnceResult> {
  const lab = await openLab({ nats: { a: 'none', b: 'none' }, delay: delay / 2 })
  const peers: Peer[] = []

  try {
    for (const side of ['a', 'b'] as const) {
      peers.push(startPeer(lab.commandAt(side, [process.execPath, scriptPath(import.meta.url, 'peers/js/both'), `/ip4/${lab.publicHosts[side]}/tcp/4001`, security, `${always}`]), signal))
    }

    const [a, b] = await Promise.all(peers.map(async peer => peer.until(TIMEOUT, ({ event }) => event === 'listening')))
    const count = (peer: Peer, name: string): number => peer.events.filter(({ event }) => event === name).length

    for (let i = 1; i <= dials; i++) {
      peers[0].send(`dial ${b.multiaddr}`)
      peers[1].send(`dial ${a.multiaddr}`)
      await Promise.all(peers.map(async peer => peer.until(TIMEOUT, () => count(peer, 'dialed') === i)))
      peers.forEach(peer => { peer.send('close') })
      await Promise.all(peers.map(async peer => peer.until(TIMEOUT, () => count(peer, 'closed') === i)))
    }

    const all = peers.flatMap(({ events }) => events.filter(({ event }) => event === 'dialed'))

    return {
      security,
      delay,
      dials,
      always,
      failed: all.filter(({ ok }) => ok !== true).length,
      redialed: all.filter(({ redialed }) => redialed === true).length,
      reasons: all.flatMap(({ reason }) => reason ?? [])
    }
  } finally {
    await Promise.all(peers.map(async peer => peer.close()))
    await lab.close()
  }
}
