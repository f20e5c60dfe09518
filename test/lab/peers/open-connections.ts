const FEW = 64

/**
 * Those that are open of all that were added. It asks each of them: a listener of 'close' takes half a KiB that would be counted as the
 * connection's. It asks when somebody wants to know, and whenever there are twice as many: who dials and closes without end keeps
 * nothing.
 */
export class OpenConnections<Connection> {
  readonly #isOpen: (connection: Connection) => boolean
  readonly #connections = new Set<Connection>()
  #most = FEW

  constructor (isOpen: (connection: Connection) => boolean) {
    this.#isOpen = isOpen
  }

  add (connection: Connection): void {
    this.#connections.add(connection)

    if (this.#connections.size > this.#most) {
      this.#forgetClosed()
      this.#most = Math.max(FEW, this.#connections.size * 2)
    }
  }

  list (): Connection[] {
    this.#forgetClosed()

    return [...this.#connections]
  }

  count (): number {
    return this.list().length
  }

  #forgetClosed (): void {
    for (const connection of this.#connections) {
      if (!this.#isOpen(connection)) {
        this.#connections.delete(connection)
      }
    }
  }
}
