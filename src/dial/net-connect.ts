import net from 'node:net'
import type { FastOpen } from '../options.ts'
import type { NetConnectOpts, Socket } from 'node:net'

/** Makes the socket of a dial. It connects, or is connected already */
export type OpenSocket = (options: NetConnectOpts) => Socket

/**
 * A SYN that waits for data to carry where that is possible, and an ordinary connect
 * elsewhere. `target` is the IP address, where a name was looked up.
 */
export function orOrdinary (fastOpen?: FastOpen, target?: string): OpenSocket {
  return options => fastOpen?.openSocket({ ...options, ...target == null ? {} : { host: target } }) ?? net.connect(options)
}

/** Connect a socket that was made by hand, as `net.connect` does with its own. It is destroyed if that throws */
export function connectSocket (socket: Socket, options: NetConnectOpts): Socket {
  try {
    if (options.timeout != null) {
      socket.setTimeout(options.timeout)
    }

    return socket.connect(options)
  } catch (err) {
    socket.destroy()
    throw err
  }
}
