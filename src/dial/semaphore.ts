/** Limits how many do something at a time. Who waits longest is next */
export class Semaphore {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor (places: number) {
    this.#free = places
  }

  /**
   * `granted` may be called before this returns, and must not throw.
   *
   * @returns gives the place back, or the wish for one
   */
  take (granted: () => void): () => void {
    let isHeld = false
    const grant = (): void => {
      this.#free--
      isHeld = true
      granted()
    }

    this.#waiting.add(grant)
    this.#next()

    return () => {
      this.#waiting.delete(grant)
      this.#free += isHeld ? 1 : 0
      isHeld = false
      this.#next()
    }
  }

  #next (): void {
    const [grant] = this.#waiting

    if (grant != null && this.#free > 0) {
      this.#waiting.delete(grant)
      grant()
    }
  }
}
