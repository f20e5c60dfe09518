import { LINGER_IDLE_TIMEOUT, LINGER_TIMEOUT, MAX_LINGERING } from '../constants.ts'
import { afterPoll } from './timers.ts'
import type { Socket } from 'node:net'

const NOTHING = new Uint8Array()

/**
 * Send FIN behind everything that was written, and wait until the peer has
 * sent its own or `timeout` ms have passed since ours was handed to the kernel;
 * with 0 do not wait for it at all.
 *
 * The caller has stopped listening for data: whatever still comes in is read
 * and thrown away. Both halves matter. Were the socket closed while input lies
 * unread, or while more of it is under way, the kernel would answer with RST,
 * and a peer that receives RST loses what it has not yet read.
 *
 * @returns whether the socket is closed; if not, let it linger
 */
export async function finish (socket: Socket, timeout: number): Promise<boolean> {
  if (socket.closed) {
    return true
  }

  return new Promise<boolean>(resolve => {
    let cancelTimeout = (): void => {}

    const done = (closed: boolean): void => {
      cancelTimeout()
      socket.off('finish', onFinish)
      socket.off('close', onClose)
      resolve(closed)
    }
    const onFinish = (): void => {
      if (timeout === 0 && !socket.readableEnded) {
        done(false)
      } else {
        // while anybody waits it is the socket that keeps the process alive
        cancelTimeout = afterPoll(timeout, () => { done(false) }, false)
      }
    }
    const onClose = (): void => {
      done(true)
    }

    socket.on('close', onClose)

    if (socket.writableFinished) {
      onFinish()
    } else {
      socket.on('finish', onFinish)
    }

    socket.end()
    socket.resume()
  })
}

/**
 * Have the socket emit 'error', if a RST of the peer lies in the kernel that nobody has
 * read, since the socket is paused or the peer has sent FIN before: to end a socket
 * that was reset is no error to Node, and to write nothing to it is one.
 */
export function probe (socket: Socket): void {
  if (socket.writable && socket.writableLength === 0) {
    socket.write(NOTHING)
  }
}

/**
 * Close at once, and reset the peer. There is no RST on pipes, and none without a peer.
 */
export function reset (socket: Socket): void {
  if (socket.remoteAddress == null) {
    socket.destroy()
  } else {
    socket.resetAndDestroy()
  }
}

/**
 * Close at once. Where some of what was written is lost the peer is reset: it would
 * else take what it has got for all.
 */
export function cut (socket: Socket): void {
  if (socket.writableLength > 0) {
    reset(socket)
  } else {
    socket.destroy()
  }
}

export interface LingerBounds {
  /** How long a socket waits without input, in ms */
  idle: number

  /** How long it waits in any case, in ms */
  total: number

  /** How many wait at a time */
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
