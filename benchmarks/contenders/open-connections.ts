/**
 * Those that are open of all that were added. It asks each of them: a listener of
 * 'close' takes half a KiB that would be counted as the connection's.
 */
export class OpenConnections<Connection> {
  readonly #isOpen: (connection: Connection) => boolean
  readonly #connections = new Set<Connection>()

  constructor (isOpen: (connection: Connection) => boolean) {
    this.#isOpen = isOpen
  }

  add (connection: Connection): void {
    this.#connections.add(connection)
  }

  list (): Connection[] {
    for (const connection of this.#connections) {
      if (!this.#isOpen(connection)) {
        this.#connections.delete(connection)
      }
    }

    return [...this.#connections]
  }

  count (): number {
    return this.list().length
  }
}
