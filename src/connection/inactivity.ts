import type { Socket } from 'node:net'

/**
 * Call this on a socket's 'timeout'. It calls back if the socket has really neither sent
 * nor received for that long, and the event loop was not only too busy to look.
 * Otherwise it starts the time again, which Node does not do by itself where `send`
 * only made the socket's buffer longer.
 *
 * @see https://nodejs.org/api/net.html#event-timeout
 */
export function ifInactive (socket: Socket, callback: () => void): void {
  const { bytesRead, writableLength } = socket

  setImmediate(() => {
    if (socket.destroyed) {
      return
    }

    if (socket.bytesRead === bytesRead && socket.writableLength === writableLength) {
      callback()
    } else {
      socket.setTimeout(socket.timeout ?? 0)
    }
  })
}
