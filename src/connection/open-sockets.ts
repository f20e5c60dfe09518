import { afterPoll } from './timers.ts'
import type { Socket } from 'node:net'

/**
 * All sockets that a listener or a transport is responsible for, from birth to
 * 'close', whatever state the connection over them is in.
 */
export class OpenSockets {
  readonly #sockets = new Map<Socket, Promise<void>>()

  get size (): number {
    return this.#sockets.size
  }

  add (socket: Socket): void {
    this.#sockets.set(socket, new Promise(resolve => {
      socket.once('close', () => {
        this.#sockets.delete(socket)
        resolve()
      })
    }))
  }

  /**
   * Wait until all that are open now are closed; those that still are not after
   * `timeout` ms are destroyed.
   */
  async closed (timeout: number): Promise<void> {
    const sockets = [...this.#sockets.keys()]
    const closed = Promise.all(this.#sockets.values())
    const cancel = afterPoll(timeout, () => {
      sockets.forEach(socket => { socket.destroy() })
    })

    await closed
    cancel()
  }
}
