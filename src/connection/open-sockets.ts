import { pEvent } from 'p-event'
import { MAX_TIMEOUT, OWNER_CLOSE_TIMEOUT } from '../constants.ts'
import { afterPoll } from './timers.ts'
import type { Socket } from 'node:net'

/**
 * All sockets that a listener or a transport is responsible for, from birth to
 * 'close', whatever state the connection over them is in.
 */
export class OpenSockets {
  readonly #sockets = new Set<Socket>()
  readonly #onClose: (this: Socket) => void

  constructor () {
    const sockets = this.#sockets

    // one for all of them: there may be many
    this.#onClose = function () { sockets.delete(this) }
  }

  get size (): number {
    return this.#sockets.size
  }

  add (socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('close', this.#onClose)
  }

  /**
   * Wait until all that are open now are closed. libp2p's connection manager has
   * {@link OWNER_CLOSE_TIMEOUT} to close the connections, at the same time; what is
   * still open `closeTimeout` ms later is destroyed.
   */
  async closed (closeTimeout: number): Promise<void> {
    const sockets = [...this.#sockets]
    const cancel = afterPoll(Math.min(OWNER_CLOSE_TIMEOUT + closeTimeout, MAX_TIMEOUT), () => {
      sockets.forEach(socket => { socket.destroy() })
    })

    await Promise.all(sockets.map(async socket => pEvent(socket, 'close', { rejectionEvents: [] })))
    cancel()
  }
}
