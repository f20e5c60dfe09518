import { pEvent } from 'p-event'
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
   * Wait until all that are open now are closed; those that still are not after
   * `timeout` ms are destroyed.
   */
  async closed (timeout: number): Promise<void> {
    const sockets = [...this.#sockets]
    const cancel = afterPoll(timeout, () => {
      sockets.forEach(socket => { socket.destroy() })
    })

    await Promise.all(sockets.map(async socket => pEvent(socket, 'close', { rejectionEvents: [] })))
    cancel()
  }
}
