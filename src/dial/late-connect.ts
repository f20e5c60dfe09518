import os from 'node:os'
import { raceSignal } from 'race-signal'
import { endpointName } from '../addresses.ts'
import { FIRST_WRITE_TIMEOUT } from '../constants.ts'
import { TCPConnectError, abortError, connectTimeoutError, withCause } from '../errors.ts'
import type { Endpoint } from '../addresses.ts'
import type { DeferredConnect, FastOpen, TCPDialOptions, TCPMetrics } from '../options.ts'
import type { CounterGroup, Logger, UpgraderWithoutEncryptionOptions } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Socket } from 'node:net'

/**
 * The kernel had a cookie when the socket connected, and has none at the first write. It then
 * sends the SYN without data and answers EINPROGRESS, which libuv takes for an error.
 */
export class LostCookieError extends Error {
  static name = 'LostCookieError'
  name = 'LostCookieError'
}

const NOTHING = new Uint8Array()

/**
 * Codes of a peer that accepted the connection and reset it at once, for example because it has
 * too many. Before it is accepted the kernel says ECONNREFUSED
 */
const RESET_CODES = ['ECONNRESET', 'EPIPE']

/**
 * - `pending`: the peer is not known to have answered the SYN
 * - `connected`: it has answered
 * - `failed`: it has not, and there is an error
 */
type State = 'pending' | 'connected' | 'failed'

export interface LateConnectInit {
  ma: Multiaddr

  /** What the multiaddr says */
  endpoint: Endpoint
  socket: Socket
  signal: AbortSignal

  /** The option of the dial: how long to wait for the peer's answer, in ms */
  timeout?: number

  /** When the dial began, by the clock of `performance.now()` */
  start: number

  log: Logger
  metrics?: TCPMetrics
  fastOpen: FastOpen
}

/**
 * Whether the SYN of a dial may carry the first write. It must not if the peer speaks
 * first. A replayed SYN delivers its data twice, so it may hold only bytes of a handshake.
 */
export function maySynWait (dial: TCPDialOptions): boolean {
  const { skipEncryption }: Partial<UpgraderWithoutEncryptionOptions> = dial

  // the SYN of a hole punch must leave now
  return dial.initiator !== false && dial.reusePort !== true && skipEncryption !== true
}

/**
 * The rest of a dial whose socket has emitted 'connect'. Undefined if the peer has answered the SYN.
 */
export function lateConnect (init: LateConnectInit): LateConnect | undefined {
  const connect = init.fastOpen.look(init.socket)

  if (connect?.isPending === true) {
    return new LateConnect(init)
  }

  tellOutcome(init, connect)
}

/**
 * The rest of a dial whose socket has emitted 'connect' while its SYN waits for the first
 * write. The upgrade goes on meanwhile, and a failure to connect shows as an error of a read or a
 * write. The dial then ends as if the connect had failed: with the same error, metrics
 * and log lines.
 */
export class LateConnect {
  readonly #init: LateConnectInit
  readonly #timers: NodeJS.Timeout[]
  #state: State = 'pending'
  #error?: Error

  /** Whether 'close' was emitted: `socket.closed` is true before */
  #isClosed = false

  /** Counts the events of the connection, but none before it is established */
  readonly events?: CounterGroup

  constructor (init: LateConnectInit) {
    const { socket, signal, start, timeout } = init

    this.#init = init
    this.events = this.#gated(init.metrics?.events)
    this.#timers = [setTimeout(this.#sendSynAtLast, FIRST_WRITE_TIMEOUT)]

    if (timeout != null && timeout > 0) {
      this.#timers.push(setTimeout(this.#onTimeout, start + timeout - performance.now()))
    }

    socket.on('error', this.#onError)
    socket.once('close', this.#onClose)
    // runs before the upgrader's listener, which destroys the socket
    signal.addEventListener('abort', this.#update)
  }

  /** Makes the proposal wait for the first message of the handshake: both must fit in the SYN */
  gather (negotiation?: { patience: number }): void {
    if (negotiation != null) {
      negotiation.patience = FIRST_WRITE_TIMEOUT
    }
  }

  /**
   * The upgrade is done: wait until the connection is established. It nearly always is,
   * because an encrypter has heard from the peer.
   *
   * @throws {AbortError} if the signal of the dial fires
   * @throws {TCPConnectError} if the network refuses
   * @throws {TimeoutError} if the `timeout` option of the dial is set and passes
   */
  async connected (): Promise<void> {
    const { signal, socket } = this.#init

    this.#update()

    if (this.#state === 'pending' && (socket.writable || socket.destroyed)) {
      await raceSignal(this.#answered(), signal, { translateError: () => abortError(signal) })
      this.#update()
    }

    if (this.#error != null) {
      throw this.#error
    }

    this.#end()
  }

  /**
   * The upgrade failed. Call this before the socket is destroyed.
   *
   * @returns the error of the dial if it was never connected, or `undefined` if the upgrade
   * is to blame
   */
  failed (err: Error): Error | undefined {
    const { log, ma, metrics, signal } = this.#init

    this.#update()
    this.#end()

    if (this.#error != null) {
      return this.#error
    }

    if (this.#state === 'pending' && signal.aborted) {
      log('connection aborted %a', ma)
      metrics?.events.increment({ abort: true })

      return err
    }
  }

  /** Resolves when the peer has answered the SYN, or the socket is closed */
  async #answered (): Promise<void> {
    const { socket } = this.#init

    if (socket.destroyed) {
      // its error is still to come
      return this.#isClosed ? undefined : new Promise(resolve => { socket.once('close', resolve) })
    }

    this.#sendSynAtLast()

    return new Promise(resolve => {
      // the kernel takes it once the connection is established
      socket.write(NOTHING, err => {
        if (err != null) {
          this.#onError(err)
        }

        resolve()
      })
    })
  }

  #gated (events?: CounterGroup): CounterGroup | undefined {
    return events == null
      ? undefined
      : {
          increment: values => {
            this.#update()

            if (this.#state === 'connected') {
              events.increment(values)
            }
          },
          reset: () => { events.reset() }
        }
  }

  readonly #update = (): void => {
    const { fastOpen, log, ma, metrics, socket } = this.#init

    if (this.#state !== 'pending') {
      return
    }

    const connect = fastOpen.look(socket)

    // once Node has closed the socket, the kernel no longer knows it
    if (connect?.isPending === false || socket.bytesRead > 0) {
      this.#state = 'connected'

      try {
        log('connection opened %a', ma)
        metrics?.events.increment({ connect: true })
        tellOutcome(this.#init, connect)
      } catch (err: any) {
        // a logger or metrics of others threw: the dial fails, as an ordinary one does then
        this.#state = 'failed'
        this.#error = err
      }
    }
  }

  #end (): void {
    const { signal, socket } = this.#init

    this.#timers.forEach(timer => { clearTimeout(timer) })
    socket.off('error', this.#onError)
    socket.off('close', this.#onClose)
    signal.removeEventListener('abort', this.#update)
  }

  /** Nothing was written, so the SYN has not left. Send it without data */
  readonly #sendSynAtLast = (): void => {
    const { fastOpen, socket } = this.#init

    if (socket.bytesWritten === 0) {
      fastOpen.sendSyn(socket)
    }
  }

  readonly #onClose = (): void => { this.#isClosed = true }

  readonly #onTimeout = (): void => {
    const { endpoint, log, ma, metrics, socket, start } = this.#init

    this.#update()

    if (this.#state === 'pending') {
      this.#state = 'failed'
      this.#error = connectTimeoutError(endpointName(endpoint), start)
      log('connection timeout %a', ma)
      // counts as both, as in @libp2p/tcp
      metrics?.events.increment({ timeout: true, error: true })
      socket.destroy(this.#error)
    }
  }

  readonly #onError = (err: NodeJS.ErrnoException): void => {
    const { endpoint, log, ma, metrics, socket } = this.#init

    if (err.errno === -os.constants.errno.EINPROGRESS) {
      // the peer may have answered the SYN by now
      this.#state = 'failed'
      this.#error = new LostCookieError(`The cookie for ${ma} is gone`)
    }

    if (this.#state !== 'pending') {
      return
    }

    if (socket.bytesRead > 0) {
      this.#state = 'connected'
      metrics?.events.increment({ connect: true })
      return
    }

    this.#state = 'failed'
    this.#error = new TCPConnectError(ma, endpointName(endpoint), asConnectError(err, endpoint))
    log.error('dial to %a errored - %e', ma, err)
    metrics?.events.increment({ error: true })
  }
}

function tellOutcome ({ log, ma, metrics }: LateConnectInit, connect?: DeferredConnect): void {
  if (connect != null) {
    log('data in the SYN to %a: %s', ma, connect.outcome)
    metrics?.fastOpen?.increment({ [connect.outcome]: true })
  }
}

/** The error that Node makes of a failed connect. This connect failed at a read or a write */
function asConnectError (err: NodeJS.ErrnoException, endpoint: Endpoint): NodeJS.ErrnoException {
  if (err.code == null || err.syscall == null || 'path' in endpoint) {
    return err
  }

  const { host: address, port } = endpoint
  // an ordinary connect of which the peer wants to hear nothing meets a reset, and never writes
  const { code, errno } = RESET_CODES.includes(err.code) ? { code: 'ECONNRESET', errno: -os.constants.errno.ECONNRESET } : err
  const message = `connect ${code} ${address}:${port}`

  return withCause(Object.assign(new Error(message), { code, errno, syscall: 'connect', address, port }), err)
}
