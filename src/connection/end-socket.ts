import { afterPoll } from '../event-loop/after-poll.ts'
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
