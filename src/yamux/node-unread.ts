import { StreamBufferError } from '@libp2p/interface'

/** What a connection holds that nobody has read */
export interface Holder {
  /** In bytes */
  readonly unread: number

  /** End the connection */
  giveUp(err: Error): void
}

/** What all connections of a node hold that nobody has read */
export class NodeUnread {
  readonly #max: number
  #total = 0
  readonly #holders = new Set<Holder>()

  /** `max`: in bytes */
  constructor (max: number) {
    this.#max = max
  }

  /** Whether no window may grow */
  get isFull (): boolean {
    return this.#total > this.#max / 2
  }

  /** The connection holds so many bytes more or less */
  change (holder: Holder, bytes: number): void {
    this.#total += bytes

    if (bytes > 0) {
      this.#holders.add(holder)
    } else if (holder.unread === 0) {
      this.#holders.delete(holder)
    }

    if (bytes > 0 && this.#total > this.#max) {
      const most = [...this.#holders].reduce((most, holder) => holder.unread > most.unread ? holder : most)

      most.giveUp(new StreamBufferError(`${this.#total} bytes of ${this.#holders.size} connections are unread, and ${this.#max} may be. This connection has most`))
    }
  }
}
