/** More protocols than these of one connection are not remembered */
const MAX_QUICK = 64

/**
 * Takes as long as libp2p takes to store the protocol of a stream that it has negotiated:
 * it gives the stream to the application only then. A peer store on a disk takes turns of the
 * event loop, and is asked again for every stream. One in memory takes none, and asking it
 * would cost more than it delays.
 */
export class StoreDelay {
  readonly #store: (protocol: string) => Promise<void>

  /** Protocols that were stored within a turn */
  readonly #quick = new Set<string>()

  constructor (store: (protocol: string) => Promise<void>) {
    this.#store = store
  }

  async pass (protocol: string): Promise<void> {
    if (this.#quick.has(protocol)) {
      return
    }

    let isQuick = true
    const turn = setImmediate(() => { isQuick = false })

    await this.#store(protocol)
    clearImmediate(turn)

    if (isQuick && this.#quick.size < MAX_QUICK) {
      this.#quick.add(protocol)
    }
  }
}
