/** How many sockets of a node may wait for an answer beside the first one of each dial */
const MAX_WAITING = 32

/**
 * If another dial needs the place, an attempt must have waited this long, in ms. It covers the kernel's
 * second SYN, a second after the first, and a long way there and back.
 */
export const PATIENCE = 1_500

export interface Place {
  /** Gives the place back, or the wish for one */
  release(): void
}

interface Holder {
  granted(): void

  /** Another dial gets the place. It is released already */
  evicted(): void
}

/**
 * Limits how many attempts of all dials wait for an answer. Those that have waited long give way to new ones.
 */
export class Places {
  /** Oldest first, each with when it began */
  readonly #holders = new Map<Holder, number>()
  readonly #queue = new Set<Holder>()
  readonly #limit: number
  #timer?: NodeJS.Timeout

  constructor (limit = MAX_WAITING) {
    this.#limit = limit
  }

  get size (): number {
    return this.#holders.size
  }

  /** `granted` may be called before this returns */
  ask (holder: Holder): Place {
    this.#queue.add(holder)
    this.#grant()

    return {
      release: () => {
        this.#holders.delete(holder)
        this.#queue.delete(holder)
        this.#grant()
      }
    }
  }

  readonly #grant = (): void => {
    clearTimeout(this.#timer)

    // what is called here may release places, and so call this again
    for (let [holder] = this.#queue; holder != null; [holder] = this.#queue) {
      if (this.#holders.size < this.#limit) {
        this.#queue.delete(holder)
        this.#holders.set(holder, performance.now())
        holder.granted()
      } else if (!this.#evict()) {
        clearTimeout(this.#timer)
        this.#timer = setTimeout(this.#grant, this.#oldestSince() + PATIENCE - performance.now())
        return
      }
    }
  }

  #evict (): boolean {
    const [oldest] = this.#holders.keys()

    // timers tick in whole milliseconds
    if (performance.now() < this.#oldestSince() + PATIENCE - 1) {
      return false
    }

    this.#holders.delete(oldest)
    oldest.evicted()

    return true
  }

  #oldestSince (): number {
    const [since] = this.#holders.values()

    return since
  }
}
