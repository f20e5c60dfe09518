import { createHistogram, performance } from 'node:perf_hooks'
import type { Dialled, Peer } from '../contenders/contender.ts'

export interface DialTimes {
  milliseconds: number

  /** Milliseconds of one dial */
  p50: number
  p99: number
}

/**
 * Dials until there are as many connections as wanted. At each address one dial
 * is under way at a time: libp2p joins dials of the same address. What is dialled
 * goes to `connections`.
 */
export async function dialMany (peer: Peer, addresses: string[], count: number, connections: Dialled[]): Promise<DialTimes> {
  const histogram = createHistogram({ figures: 3 })
  const started = performance.now()
  let begun = 0

  await Promise.all(addresses.map(async address => {
    while (begun < count) {
      begun++
      const dialled = performance.now()
      connections.push(await peer.dial(address))
      histogram.record(Math.max(1, Math.round((performance.now() - dialled) * 1_000)))
    }
  }))

  return {
    milliseconds: performance.now() - started,
    p50: histogram.percentile(50) / 1_000,
    p99: histogram.percentile(99) / 1_000
  }
}
