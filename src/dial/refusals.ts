/** How many addresses are remembered. A new one replaces the one that was refused longest ago */
const MAX_ADDRESSES = 1_000

/** How long an address is remembered, in ms: peers get updated */
const MAX_AGE = 60 * 60 * 1_000

/**
 * Addresses that refused an optimistic negotiation. The next dial negotiates in full at
 * once.
 */
export class Refusals {
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

  /** @returns how long ago the address refused, in ms, if it did */
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
