/** How many protocols of one connection are remembered */
const MAX_QUICK = 64

/**
 * Waits as long as libp2p takes to store the protocol of a stream that it has negotiated: only
 * after that it gives the stream to the application. A peer store on a disk takes turns of the
 * event loop, and is written for every stream. One in memory takes none, and is written only
 * once for each protocol: more would cost more time than it waits.
 */
export class StoreDelay {
  readonly #store: (protocol: string) => Promise<void>

  /** Protocols that were stored by microtasks alone: nothing can arrive meanwhile */
  #quick?: Set<string>

  constructor (store: (protocol: string) => Promise<void>) {
    this.#store = store
  }

  async pass (protocol: string): Promise<void> {
    if (this.#quick?.has(protocol) === true) {
      return
    }

    let isQuick = true
    // runs when no microtask is left. A timer or an immediate could be later than what the store waits for
    queueMicrotask(() => { process.nextTick(() => { isQuick = false }) })

    await this.#store(protocol)

    if (isQuick && (this.#quick?.size ?? 0) < MAX_QUICK) {
      this.#quick = (this.#quick ?? new Set()).add(protocol)
    }
  }
}
