import { createHistogram, performance } from 'node:perf_hooks'
import type { Dialled, Peer } from '../contenders/contender.ts'

/**
 * Milliseconds of one dial
 */
export interface DialTimes {
  p50: number
  p99: number
}

/**
 * Dials, and knows how long each took.
 */
export class Dialling {
  readonly #peer: Peer
  readonly #histogram = createHistogram({ figures: 3 })

  constructor (peer: Peer) {
    this.#peer = peer
  }

  /**
   * Dials until there are as many connections as wanted. At each address one dial
   * is under way at a time: libp2p joins dials of the same address. What is dialled
   * goes to `connections`.
   *
   * @returns how long it took, in ms
   */
  async dial (addresses: string[], count: number, connections: Dialled[]): Promise<number> {
    const started = performance.now()
    let begun = 0

    await Promise.all(addresses.map(async address => {
      while (begun < count) {
        begun++
        const dialled = performance.now()
        connections.push(await this.#peer.dial(address))
        this.#histogram.record(Math.max(1, Math.round((performance.now() - dialled) * 1_000)))
      }
    }))

    return performance.now() - started
  }

  /**
   * @returns those of all dials since this was asked last
   */
  take (): DialTimes {
    const times = { p50: this.#histogram.percentile(50) / 1_000, p99: this.#histogram.percentile(99) / 1_000 }
    this.#histogram.reset()

    return times
  }
}
