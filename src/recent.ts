/**
 * What was noted last, by key: of at most so many keys, and no longer than so many ms
 */
export class Recent<Value> {
  readonly #entries = new Map<string, { value: Value, until: number }>()
  readonly #size: number
  readonly #age: number
  readonly #now: () => number

  constructor (size: number, age: number, now: () => number = () => performance.now()) {
    this.#size = size
    this.#age = age
    this.#now = now
  }

  get size (): number {
    return this.#entries.size
  }

  set (key: string, value: Value): void {
    // put at the end again: the map is in the order of time
    this.#entries.delete(key)
    this.#entries.set(key, { value, until: this.#now() + this.#age })

    if (this.#entries.size > this.#size) {
      const [oldest] = this.#entries.keys()
      this.#entries.delete(oldest)
    }
  }

  get (key: string): Value | undefined {
    const entry = this.#entries.get(key)

    if (entry != null && this.#now() >= entry.until) {
      this.#entries.delete(key)
      return
    }

    return entry?.value
  }

  delete (key: string): void {
    this.#entries.delete(key)
  }
}
