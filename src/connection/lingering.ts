import type { Socket } from 'node:net'

/** A closed socket that still waits for the peer's FIN is destroyed after this long without input, in ms. */
const LINGER_IDLE_TIMEOUT = 5_000

/** It is destroyed after this long in any case, in ms. */
const LINGER_TIMEOUT = 30_000

/** At most this many closed sockets wait at a time. A new one replaces the oldest. */
export const MAX_LINGERING = 1_000

export interface LingerBounds {
  /** How long a socket waits without input, in ms */
  idle: number

  /** How long it waits in any case, in ms */
  total: number

  /** How many wait at a time: a new one replaces the oldest */
  sockets: number
}

const BOUNDS: LingerBounds = {
  idle: LINGER_IDLE_TIMEOUT,
  total: LINGER_TIMEOUT,
  sockets: MAX_LINGERING
}

/** Takes the socket of a connection that is closed while the peer has yet to send FIN */
export interface Lingering {
  linger(socket: Socket): void
}

/**
 * Sockets whose connection is closed while the peer has yet to send FIN. They
 * go on reading and discarding, so that the peer can read all that was sent,
 * but do not keep the process alive, nor do they stay for ever.
 */
export class LingeringSockets implements Lingering {
  readonly #sockets = new Set<Socket>()
  readonly #bounds: LingerBounds

  constructor (bounds = BOUNDS) {
    this.#bounds = bounds
  }

  get size (): number {
    return this.#sockets.size
  }

  linger (socket: Socket): void {
    if (socket.destroyed) {
      return
    }

    if (this.#sockets.size >= this.#bounds.sockets) {
      const [oldest] = this.#sockets
      oldest.destroy()
      this.#sockets.delete(oldest)
    }

    const timer = setTimeout(() => { socket.destroy() }, this.#bounds.total)
    timer.unref()

    this.#sockets.add(socket)
    socket.once('close', () => {
      clearTimeout(timer)
      this.#sockets.delete(socket)
    })

    socket.unref()
    // the connection destroys a socket that is inactive for longer than this
    socket.setTimeout(this.#bounds.idle)
  }
}
