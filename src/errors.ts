import { AbortError, ConnectionFailedError, TimeoutError, UnsupportedOperationError } from '@libp2p/interface'
import { printable } from './printable.ts'
import type { Multiaddr } from '@multiformats/multiaddr'

/**
 * The network refused a dial: nobody listens, the host is unknown or
 * unreachable, the peer reset the connection before it was established.
 *
 * `message` has the form `connection error <host>:<port>: <Node's message>`,
 * `cause` is the error that Node raised and `code` its code (`ECONNREFUSED`,
 * `ENOTFOUND`, ...).
 */
export class TCPConnectError extends ConnectionFailedError {
  readonly code?: string
  readonly errno?: number
  readonly syscall?: string
  readonly remoteAddr: Multiaddr

  constructor (remoteAddr: Multiaddr, endpoint: string, cause: NodeJS.ErrnoException) {
    super(printable(`connection error ${endpoint}: ${messageOf(cause)}`))

    this.remoteAddr = remoteAddr
    this.code = cause.code
    this.errno = cause.errno
    this.syscall = cause.syscall
    this.cause = cause
  }
}

/**
 * The connection was aborted, because for as long as the option `stalledWriteTimeout`
 * says its peer read nothing of what waited to be sent to it.
 */
export class TCPStalledWriteError extends TimeoutError {
  readonly remoteAddr: Multiaddr

  constructor (remoteAddr: Multiaddr, timeout: number) {
    super(printable(`${remoteAddr} took nothing of what was sent to it for ${timeout}ms`))

    this.remoteAddr = remoteAddr
  }
}

/**
 * `reusePort()` cannot work here: the runtime has no `net.BoundSocket`
 * (Node 24.21, 26.4), or the system no SO_REUSEPORT (Linux, FreeBSD).
 */
export class ReusePortUnsupportedError extends UnsupportedOperationError {
  static name = 'ReusePortUnsupportedError'
  name = 'ReusePortUnsupportedError'
}

/** libp2p's base class of a connection lacks something that this transport builds on */
export class IncompatibleUtilsError extends UnsupportedOperationError {
  static name = 'IncompatibleUtilsError'

  constructor (missing: string[], versions: string) {
    super(`This version of @libp2p/utils does not fit: AbstractMultiaddrConnection has no ${missing.join(', ')}, or does not call it. Versions ${versions} fit`)
    this.name = 'IncompatibleUtilsError'
  }
}

/** The option `timeout` of a dial passed. `start` is when the dial began, by the clock of `performance.now()` */
export function connectTimeoutError (endpoint: string, start: number): TimeoutError {
  return new TimeoutError(printable(`connection error ${endpoint}: Connection timeout after ${Math.round(performance.now() - start)}ms`))
}

/**
 * Where a name has several addresses and none answers, Node raises an
 * AggregateError with an empty message: the parts say what happened.
 */
function messageOf (err: Error): string {
  if (err.message === '' && err instanceof AggregateError) {
    return err.errors.map(part => part.message).join(', ')
  }

  return err.message
}

export function withCause <E extends Error> (err: E, cause: unknown): E {
  err.cause = cause

  return err
}

/** What an operation rejects with when its signal fires: always an AbortError, with the signal's reason as the cause */
export function abortError (signal: AbortSignal): AbortError {
  return withCause(new AbortError(), signal.reason)
}
