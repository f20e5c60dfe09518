import { pEvent } from 'p-event'
import { MAX_TIMEOUT } from '../check-options.ts'
import { afterPoll } from '../event-loop/after-poll.ts'
import { OWNER_CLOSE_TIMEOUT } from '../libp2p.ts'
import { cut } from './end-socket.ts'
import type { Socket } from 'node:net'

export interface OpenSocketsInit {
  /** A larger set that these sockets belong to as well */
  among?: OpenSockets

  /** One of them is closed, and no longer counts */
  onClose?(): void
}

/**
 * All sockets that a listener or a transport is responsible for, from birth to
 * 'close', whatever state the connection over them is in.
 */
export class OpenSockets {
  /** Since when each is open, in ms by the clock of `performance.now()` */
  readonly #sockets = new Map<Socket, number>()

  /** Where each of them is kept */
  readonly #maps: Array<Map<Socket, number>>
  readonly #onClose: (this: Socket) => void

  constructor ({ among, onClose }: OpenSocketsInit = {}) {
    const maps = among == null ? [this.#sockets] : [this.#sockets, among.#sockets]

    this.#maps = maps
    // One function for all sockets, and one listener for both maps: at the third listener of an event Node's list takes 150 B
    this.#onClose = function () {
      maps.forEach(sockets => { sockets.delete(this) })
      onClose?.()
    }
  }

  get size (): number {
    return this.#sockets.size
  }

  [Symbol.iterator] (): Iterator<[Socket, number]> {
    return this.#sockets.entries()
  }

  count (predicate: (socket: Socket) => boolean): number {
    let count = 0

    for (const socket of this.#sockets.keys()) {
      count += predicate(socket) ? 1 : 0
    }

    return count
  }

  add (socket: Socket): void {
    // a small whole number takes no memory of its own
    const now = Math.floor(performance.now())

    this.#maps.forEach(sockets => { sockets.set(socket, now) })
    socket.on('close', this.#onClose)
  }

  /**
   * Wait until all that are open now are closed. libp2p's connection manager has
   * {@link OWNER_CLOSE_TIMEOUT} to close the connections, at the same time; what is
   * still open `closeTimeout` ms later is destroyed.
   */
  async closed (closeTimeout: number): Promise<void> {
    const sockets = [...this.#sockets.keys()]
    const cancel = afterPoll(Math.min(OWNER_CLOSE_TIMEOUT + closeTimeout, MAX_TIMEOUT), () => {
      sockets.forEach(cut)
    })

    await Promise.all(sockets.map(async socket => pEvent(socket, 'close', { rejectionEvents: [] })))
    cancel()
  }
}
