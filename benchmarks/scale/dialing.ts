import { performance } from 'node:perf_hooks'
import { Percentiles } from '../../test/lab/measure/percentiles.ts'
import type { P50AndP99 } from '../../test/lab/measure/percentiles.ts'
import type { Dialed, Peer } from '../../test/lab/peers/contender.ts'

/** Dials, and knows how long each took */
export class Dialing {
  readonly #peer: Peer
  readonly #times = new Percentiles()

  constructor (peer: Peer) {
    this.#peer = peer
  }

  /**
   * Dials until there are as many connections as wanted. At each address one dial
   * is under way at a time: libp2p joins dials of the same address. What is dialed
   * goes to `connections`.
   *
   * @returns how long it took, in ms
   */
  async dial (addresses: string[], count: number, connections: Dialed[]): Promise<number> {
    const started = performance.now()
    let begun = 0

    await Promise.all(addresses.map(async address => {
      while (begun < count) {
        begun++
        const dialed = performance.now()
        connections.push(await this.#peer.dial(address))
        this.#times.record(performance.now() - dialed)
      }
    }))

    return performance.now() - started
  }

  /** @returns those of all dials since this was asked last */
  take (): P50AndP99 {
    return this.#times.take()
  }
}
