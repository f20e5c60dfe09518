import net from 'node:net'
import { InvalidParametersError } from '@libp2p/interface'
import { ignoreErrors } from '../connection/socket-listeners.ts'
import { withCause } from '../errors.ts'
import type { ConnectOptions, Connector, Target } from '../connector.ts'
import type { BoundSocket, NetConnectOpts, Socket, TcpNetConnectOpts } from 'node:net'

/** Opens sockets as `net.connect` does, also from the port of a server that listens */
export const ordinary: Connector = {
  async open (target, options, signal) {
    const make = options.sharesPort === true && !('path' in target) ? connectSharingPort : net.connect

    return { socket: await connect(make, target, options, signal) }
  }
}

/**
 * Makes a socket and waits until it is connected. Whatever goes wrong, no socket is left.
 *
 * The signal ends with this function: given to `net.connect` it would stay on
 * the socket, and an abort after the dial would kill a live connection.
 *
 * @throws {InvalidParametersError} if an option is invalid
 * @throws {Error} what Node says, or `ESELFCONNECT`, or the signal's reason
 */
export async function connect (make: (options: NetConnectOpts) => Socket, target: Target, options: ConnectOptions, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted()

  const socket = makeSocket(make, toNodeOptions(target, options))
  ignoreErrors(socket)

  try {
    await connected(socket, signal)

    if (isConnectedToItself(socket, target)) {
      throw Object.assign(new Error('The socket is connected to itself: nobody listens there'), { code: 'ESELFCONNECT' })
    }

    if (options.noDelay === true) {
      socket.setNoDelay(true)
    }

    return socket
  } catch (err) {
    socket.destroy()
    throw err
  }
}

/** Connects a given socket, as `net.connect` does with the one that it makes. Destroys it if that throws */
export function connectSocket (socket: Socket, options: NetConnectOpts): Socket {
  try {
    return socket.connect(options)
  } catch (err) {
    socket.destroy()
    throw err
  }
}

/**
 * Happens if a dial leaves from the very port that it dials: the kernel answers its own SYN. It may choose
 * such a port by itself
 */
function isConnectedToItself (socket: Socket, target: Target): boolean {
  // Node asks the kernel for the local port once, which costs a microsecond. The kernel knows no peer yet if the SYN waits
  return !('path' in target) && socket.localPort === target.port && socket.localAddress === (socket.remoteAddress ?? target.host)
}

async function connected (socket: Socket, signal: AbortSignal): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const settle = (): void => {
      socket.off('connect', onConnect)
      socket.off('error', onError)
      socket.off('close', onClose)
      signal.removeEventListener('abort', onAbort)
    }
    const onConnect = (): void => {
      settle()
      resolve()
    }
    const onError = (err: Error): void => {
      settle()
      reject(err)
    }
    const onClose = (): void => { onError(new Error('the socket was destroyed')) }
    const onAbort = (): void => { onError(signal.reason) }

    socket.on('connect', onConnect)
    socket.on('error', onError)
    socket.on('close', onClose)
    signal.addEventListener('abort', onAbort)
  })
}

function makeSocket (make: (options: NetConnectOpts) => Socket, options: NetConnectOpts): Socket {
  try {
    return make(options)
  } catch (err: any) {
    // the kernel may refuse to bind at once
    throw err.syscall != null ? err : withCause(new InvalidParametersError(err.message), err)
  }
}

function connectSharingPort (given: NetConnectOpts): Socket {
  const { localAddress: host = '', localPort: port, ...options } = given as TcpNetConnectOpts
  const handle = new net.BoundSocket({ host, port, ipv6Only: net.isIPv6(host), reusePort: true })

  return connectSocket(wrap(handle, options), options)
}

/** From now on the socket owns the handle */
function wrap (handle: BoundSocket, options: NetConnectOpts): Socket {
  try {
    return new net.Socket({ ...options, handle })
  } catch (err) {
    handle[Symbol.dispose]()
    throw err
  }
}

function toNodeOptions (target: Target, options: ConnectOptions): NetConnectOpts {
  const endpoint = 'path' in target ? target : { host: target.host, port: target.port }

  return {
    ...options,
    ...endpoint,
    // a dial has a clock of its own
    timeout: undefined,
    // the connection decides what follows the peer's FIN
    allowHalfOpen: true
  }
}
