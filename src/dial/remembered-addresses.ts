/** How many addresses are remembered. A new one replaces the one that was added longest ago */
const MAX_ADDRESSES = 1_000

/** How long an address is remembered, in ms: peers get updated */
const MAX_AGE = 60 * 60 * 1_000

/**
 * Addresses at which a saved round trip did not work: the peer refused an optimistic negotiation,
 * or the network dropped a SYN with data. Dials to them do without it for an hour.
 */
export class RememberedAddresses {
  readonly #times = new Map<string, number>()
  readonly #now: () => number

  constructor (now: () => number = () => performance.now()) {
    this.#now = now
  }

  get size (): number {
    return this.#times.size
  }

  add (address: string): void {
    // re-inserted at the end, which keeps the map in the order of time
    this.#times.delete(address)
    this.#times.set(address, this.#now())

    if (this.#times.size > MAX_ADDRESSES) {
      const [oldest] = this.#times.keys()
      this.#times.delete(oldest)
    }
  }

  /** @returns how long ago the address was added, in ms, if it is remembered */
  age (address: string): number | undefined {
    const time = this.#times.get(address)

    if (time == null) {
      return
    }

    const age = this.#now() - time

    if (age >= MAX_AGE) {
      this.#times.delete(address)
      return
    }

    return age
  }
}
