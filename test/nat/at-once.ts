import { runProgram } from '../lab/process/program.ts'
import { scriptPath } from '../lab/script-path.ts'
import { openLab } from './lab/lab.ts'
import type { Security } from './cells.ts'
import type { Program } from '../lab/process/program.ts'
import type { Verdict } from '../lab/suite.ts'

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

const TIMEOUT = 30_000

/**
 * Two public js nodes with `reusePort` dial each other at the same time, ping, and close, so many times. With
 * a distance between them their SYNs cross, and the two dials are one connection.
 */
export async function runAtOnce ({ security, delay, dials, always }: AtOnceCase, signal: AbortSignal): Promise<Verdict> {
  const lab = await openLab({ nats: { a: 'none', b: 'none' }, delay: delay / 2 })
  const peers: Program[] = []

  try {
    for (const side of ['a', 'b'] as const) {
      peers.push(runProgram(lab.commandAt(side, [process.execPath, scriptPath(import.meta.url, 'peers/js/both'), `/ip4/${lab.publicHosts[side]}/tcp/4001`, security, `${always}`]), { signal }))
    }

    const [a, b] = await Promise.all(peers.map(async peer => peer.until(({ event }) => event === 'listening', TIMEOUT)))
    const count = (peer: Program, name: string): number => peer.lines.filter(({ event }) => event === name).length

    for (let i = 1; i <= dials; i++) {
      peers[0].write(`dial ${b.multiaddr}`)
      peers[1].write(`dial ${a.multiaddr}`)
      await Promise.all(peers.map(async peer => peer.until(() => count(peer, 'dialed') === i, TIMEOUT)))
      peers.forEach(peer => { peer.write('close') })
      await Promise.all(peers.map(async peer => peer.until(() => count(peer, 'closed') === i, TIMEOUT)))
    }

    const all = peers.flatMap(({ lines }) => lines.filter(({ event }) => event === 'dialed'))
    const failed = all.filter(({ ok }) => ok !== true)

    return {
      summary: `${failed.length} of 2 × ${dials} failed, ${all.filter(({ redialed }) => redialed === true).length} were made again`,
      complaints: [...new Set(failed.map(({ reason }) => reason))]
    }
  } finally {
    await Promise.all(peers.map(async peer => peer.end()))
    await lab.close()
  }
}
