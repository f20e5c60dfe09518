import type { Socket } from 'node:net'

/**
 * What to do on a socket's 'timeout': call back if it really has neither sent
 * nor received anything for as long as its `setTimeout` says, and the event loop
 * was not just too busy to look. Else the time begins anew: where `send` only made
 * the socket's buffer longer, Node would not count it again.
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
