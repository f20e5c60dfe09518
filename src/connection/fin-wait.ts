import { afterPoll } from '../event-loop/after-poll.ts'
import type { Socket } from 'node:net'

/*
 * The wait for the peer's FIN: `close()` waits for it first, then the socket lingers in the background. Bundles for browsers
 * have this file, so it needs nothing of Node when it is loaded.
 */

/**
 * How long `close()` waits for the peer's FIN after our own was handed to the
 * kernel, in ms.
 *
 * js-libp2p PR #3032 proposed 250 where `@libp2p/tcp` declares 500 and uses it
 * nowhere. A live peer answers within a round trip; a dead one must not hold up
 * the caller of `close()`.
 */
export const CLOSE_TIMEOUT = 250

export interface FinishInit {
  /** How long to wait for the peer's FIN after ours was handed to the kernel, in ms; 0 for not at all */
  timeout: number

  /** The kernel has taken FIN, and everything before it */
  onFinish(): void
}

/**
 * Send FIN behind everything that was written, and wait for the peer's.
 *
 * The caller has stopped listening for data: what still comes in is read and thrown
 * away. If a socket is closed while input lies unread, or more of it is under way, the
 * kernel answers with RST. A peer that receives RST loses what it has not read.
 *
 * If the socket is already destroyed, it must have emitted 'finish'.
 *
 * @returns whether the socket is closed; if not, let it linger
 */
export async function finish (socket: Socket, { timeout, onFinish }: FinishInit): Promise<boolean> {
  if (socket.closed) {
    onFinish()

    return true
  }

  return new Promise<boolean>(resolve => {
    let cancelTimeout = (): void => {}

    const done = (closed: boolean): void => {
      cancelTimeout()
      socket.off('finish', onFinished)
      socket.off('close', onClose)
      resolve(closed)
    }
    const onFinished = (): void => {
      onFinish()

      if (timeout === 0 && !socket.readableEnded) {
        done(false)
      } else {
        // the socket keeps the process alive
        cancelTimeout = afterPoll(timeout, () => { done(false) }, false)
      }
    }
    const onClose = (): void => {
      done(true)
    }

    socket.on('close', onClose)

    if (socket.writableFinished) {
      onFinished()
    } else {
      socket.on('finish', onFinished)
    }

    socket.end()
    socket.resume()
  })
}

/** For sockets that linger */
export interface LingerBounds {
  /** How long one waits without input, in ms */
  idle: number

  /** How long it waits in any case, in ms */
  total: number

  /** How many wait at a time: a new one replaces the oldest */
  sockets: number
}

export const LINGER_BOUNDS: LingerBounds = {
  idle: 5_000,
  total: 30_000,
  sockets: 1_000
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

  constructor (bounds = LINGER_BOUNDS) {
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
