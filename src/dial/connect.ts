import net from 'node:net'
import { InvalidParametersError } from '@libp2p/interface'
import { endpointName } from '../addresses.ts'
import { ignoreErrors } from '../connection/socket-listeners.ts'
import { TCPConnectError, abortError, connectTimeoutError, withCause } from '../errors.ts'
import { printable } from '../printable.ts'
import type { OpenSocket } from './net-connect.ts'
import type { Endpoint } from '../addresses.ts'
import type { TCPMetrics } from '../options.ts'
import type { SocketOptions } from '../settings.ts'
import type { Logger } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Socket, NetConnectOpts } from 'node:net'

export interface ConnectInit {
  /** What the multiaddr says */
  endpoint: Endpoint
  signal: AbortSignal
  log: Logger
  metrics?: TCPMetrics['events']

  /** Called with each socket as soon as it is created */
  onSocket(socket: Socket): void

  /** @default net.connect */
  openSocket?: OpenSocket

  /** Whether a socket has emitted 'connect' before the peer answered its SYN. The caller then reports the connection later */
  isPending?(socket: Socket): boolean

  /** @returns another way to open the socket after this error, if there is one. The signal stays the same */
  reopen?(err: Error): OpenSocket | undefined
}

/**
 * Open a socket to an address. Whatever goes wrong, no socket is left.
 *
 * The signal ends with this function: given to `net.connect` it would stay on
 * the socket, and an abort after the dial would kill a live connection.
 *
 * @throws {AbortError} if the signal fires, with its reason as the cause
 * @throws {TCPConnectError} if the network refuses
 * @throws {TimeoutError} if the `timeout` option is set and passes
 * @throws {InvalidParametersError} if the address or an option is invalid
 */
export async function connect (ma: Multiaddr, options: SocketOptions, init: ConnectInit): Promise<Socket> {
  const { endpoint, signal, log, metrics, openSocket = net.connect } = init
  const connectOptions = toConnectOptions(endpoint, options)
  const start = performance.now()
  let socket: Socket

  log('dialing %a with opts %o', ma, options)

  try {
    socket = openSocket(connectOptions)
  } catch (err: any) {
    throw withCause(new InvalidParametersError(printable(`cannot dial ${ma}: ${err.message}`)), err)
  }

  ignoreErrors(socket)
  init.onSocket(socket)

  try {
    const openAgain = await new Promise<OpenSocket | undefined>((resolve, reject) => {
      const settle = (action: () => void) => () => {
        socket.off('connect', onConnect)
        socket.off('error', onError)
        socket.off('timeout', onTimeout)
        socket.off('close', onClose)
        signal.removeEventListener('abort', onAbort)
        action()
      }
      const onConnect = settle(() => {
        if ('port' in endpoint && isConnectedToItself(socket, endpoint.port)) {
          onError(Object.assign(new Error('The socket is connected to itself: nobody listens there'), { code: 'ESELFCONNECT' }))
        } else {
          resolve(undefined)
        }
      })
      const onAbort = settle(() => {
        log('connection aborted %a', ma)
        metrics?.increment({ abort: true })
        reject(abortError(signal))
      })
      const onTimeout = settle(() => {
        log('connection timeout %a', ma)
        // counts as both, as in @libp2p/tcp
        metrics?.increment({ timeout: true, error: true })
        reject(connectTimeoutError(endpointName(endpoint), start))
      })
      const onError = (err: Error): void => {
        settle(() => {
          const openAgain = init.reopen?.(err)

          if (openAgain != null) {
            resolve(openAgain)
            return
          }

          log.error('dial to %a errored - %e', ma, err)
          metrics?.increment({ error: true })
          reject(new TCPConnectError(ma, endpointName(endpoint), err))
        })()
      }

      const onClose = (): void => { onError(new Error('the socket was destroyed')) }

      socket.on('connect', onConnect)
      socket.on('error', onError)
      socket.on('timeout', onTimeout)
      socket.on('close', onClose)
      signal.addEventListener('abort', onAbort)

      if (signal.aborted) {
        // the caller's look-up or progress handler has aborted it before anybody listened
        onAbort()
      } else if (socket.readyState === 'open') {
        onConnect()
      }
    })

    if (openAgain != null) {
      socket.destroy()
      return await connect(ma, options, { ...init, openSocket: openAgain, reopen: undefined })
    }

    if (init.isPending?.(socket) !== true) {
      log('connection opened %a', ma)
      metrics?.increment({ connect: true })
    }

    if (options.noDelay) {
      socket.setNoDelay(true)
    }

    return socket
  } catch (err) {
    socket.destroy()
    throw err
  }
}

/**
 * Happens if a dial leaves from the very port that it dials, chosen or not: the kernel answers its own SYN.
 * Of a port that differs Node asks the kernel once, which costs a microsecond.
 */
function isConnectedToItself (socket: Socket, port: number): boolean {
  return socket.localPort === port && socket.localAddress === socket.remoteAddress
}

function toConnectOptions (endpoint: Endpoint, options: SocketOptions): NetConnectOpts {
  if ('path' in endpoint) {
    return Object.freeze({ ...options, ...endpoint, allowHalfOpen: true })
  }

  const { family, ...host } = endpoint

  return Object.freeze({
    ...options,
    ...host,
    ...(family !== 0 ? { family } : {}),
    // the connection decides what follows the peer's FIN
    allowHalfOpen: true
  })
}
