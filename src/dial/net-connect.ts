import net from 'node:net'
import type { FastOpen } from '../options.ts'
import type { NetConnectOpts, Socket } from 'node:net'

/** Makes the socket of a dial, as `net.connect` does. It connects, or is connected already */
export type OpenSocket = (options: NetConnectOpts) => Socket

/**
 * Opens a socket whose SYN waits for data to carry, or an ordinary one where that is
 * impossible. `target` is the IP address, if a name was looked up.
 */
export function orOrdinary (fastOpen?: FastOpen, target?: string): OpenSocket {
  return options => fastOpen?.openSocket({ ...options, ...target == null ? {} : { host: target } }) ?? net.connect(options)
}

/** Connects a given socket, as `net.connect` does with the one that it makes. Destroys it if that throws */
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
