import { ConnectionClosedError, StreamResetError, TimeoutError } from '@libp2p/interface'
import { TCPStalledWriteError, withCause } from '../errors.ts'
import { afterPoll } from '../event-loop/after-poll.ts'
import { flushLate } from '../event-loop/flush-soon.ts'
import { nextState } from './close-state.ts'
import { Closing } from './closing.ts'
import { isFinishing, probe, reset, whenFinIsCertain } from './end-socket.ts'
import { ifInactive } from './liveness.ts'
import { MessageConnection } from './message-connection.ts'
import { listen, owner } from './socket-listeners.ts'
import type { CloseEvent, CloseState } from './close-state.ts'
import type { Lingering } from './fin-wait.ts'
import type { MessageConnectionInit } from './message-connection.ts'
import type { SocketListeners } from './socket-listeners.ts'
import type { ConnectionSettings } from '../settings.ts'
import type { AbortOptions, CounterGroup, StreamCloseEvent } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface SocketConnectionInit extends MessageConnectionInit {
  /** Takes the socket if the peer has not sent FIN when `close()` resolves */
  lingering: Lingering
}

/** The peer closed its end before we had closed ours, or its host is gone. Nothing is wrong at this end */
const RESET_CODES = ['ECONNRESET', 'EPIPE']

/**
 * How long an upgrade may go on after the peer's FIN, in ms. A muxer is negotiated through the encrypter, whose reader does not hear
 * of FIN. A connection gater that takes longer loses what the peer sent before its FIN, as with the official transport
 */
const AFTER_FIN = 500

/**
 * A libp2p MultiaddrConnection over a socket: how it is upgraded and how it ends. libp2p's verbs and the socket's events become
 * events of close-state.ts, and the next state says what is done. A close, by either side, loses nothing of what `send` accepted.
 */
export class SocketConnection extends MessageConnection {
  readonly #settings: ConnectionSettings
  readonly #lingering: Lingering
  readonly #metrics?: CounterGroup
  readonly #metricPrefix: string
  #state: CloseState = 'open'

  /** Exists once a graceful close has begun */
  #closing?: Closing

  /** Exists while an upgrade goes on after the peer's FIN */
  #cancelOverdue?: () => void
  #socketError?: Error

  constructor ({ lingering, ...init }: SocketConnectionInit) {
    super(init)

    this.#settings = init.settings
    this.#lingering = lingering
    this.#metrics = init.metrics
    this.#metricPrefix = init.metricPrefix ?? ''
    listen(init.socket, SocketConnection.#listeners, this)
    init.socket.setTimeout(init.settings.inactivityTimeout)
  }

  /**
   * As the base class's, and bounded while it is closing: see {@link close}.
   *
   * @throws {StreamStateError} if nothing more can be sent
   */
  send (data: Uint8Array | Uint8ArrayList): boolean {
    const closing = this.#closing

    if (closing == null || this.status !== 'closing') {
      return super.send(data)
    }

    if (this.writeStatus === 'writable' && !closing.hold(data.byteLength)) {
      // no encrypter has held back this much, so somebody goes on sending
      this.writeStatus = 'closing'
    }

    try {
      return super.send(data)
    } catch (err) {
      closing.refuse(err)
      throw err
    }
  }

  onStalledWrite (): void {
    this.log('tcp stalled write %a', this.remoteAddr)
    this.#metrics?.increment({ [`${this.#metricPrefix}stalled_write`]: true })
    this.#on('failure', new TCPStalledWriteError(this.remoteAddr, this.#settings.stalledWriteTimeout))
  }

  /**
   * While libp2p makes the layers above, which `run` does.
   *
   * @throws {Error} the upgrader's error, with what had ended the connection as its cause. The caller then aborts the connection
   */
  async upgrade <T> (run: () => Promise<T>): Promise<T> {
    this.#on('upgrade')

    try {
      return await run()
    } catch (err: any) {
      this.#on('upgraded')
      // a peer that sent FIN gets ours, and not the reset of the abort that follows
      await this.#closing?.ended

      const cause = this.closeError

      // an upgrader's error seldom says why the connection had ended
      throw cause == null || err.cause != null || err === cause ? err : withCause(err, cause)
    } finally {
      this.#on('upgraded')
      this.#cancelOverdue?.()
    }
  }

  /**
   * Send everything that `send` accepted, then FIN, and resolve at the peer's
   * FIN, or `closeTimeout` ms after ours was handed to the kernel. From the call on
   * nothing more is delivered, and `send` throws. Exception: while earlier data waits for
   * the socket to drain, or in the queue of an encrypter, `send` takes {@link MAX_HELD_BYTES} more.
   *
   * The signal ends the wait, not the close: to give up call `abort`.
   *
   * @throws {Error} what ended the connection before everything was sent
   */
  async close (options?: AbortOptions): Promise<void> {
    if (this.status === 'open' || this.status === 'closing') {
      // what came before anybody listened, or while paused
      this.readBuffer.consume(this.readBuffer.byteLength)
    } else if (this.#closing?.isAwaited !== true) {
      // it had ended before anybody closed it
      return
    }

    if (this.#closing == null) {
      this.remoteWriteStatus = this.remoteWriteStatus === 'closed' ? 'closed' : 'closing'

      if (this.socket.isPaused() || this.socket.readableEnded) {
        probe(this.socket)
      }

      this.incoming.drop()
      this.socket.resume()
    }

    this.#on('close')

    return this.#closing?.done(options)
  }

  /**
   * Close at once, because of an error at this end. The kernel still gets what `send` has accepted if it takes that at once;
   * the rest is lost. While the
   * connection closes, an error that `send` threw has no effect: see {@link Closing.isRefusal}.
   */
  abort (err: Error): void {
    if (this.status !== 'closing' || this.#closing?.isRefusal(err) !== true) {
      super.abort(err)
    }
  }

  sendReset (): void {
    // a muxer's resets of its streams are in it: without them their readers would end as if nothing was missing
    this.outgoing.flushNow()

    // After FIN there must be no reset: uv_tcp_close_reset and uv_shutdown exclude
    // each other. Node calls the latter when nothing waits any more.
    // https://docs.libuv.org/en/v1.x/tcp.html#c.uv_tcp_close_reset
    if (isFinishing(this.socket)) {
      // only the wait for the peer is left to abort
      this.#lingering.linger(this.socket)
    } else {
      reset(this.socket)
    }
  }

  /** Adds what is known here to the event, and ends the parts */
  protected beforeClose (event: StreamCloseEvent): void {
    event.local ??= this.#closing?.by === 'local'

    if (event.error != null && this.status === 'reset') {
      event.error.cause = this.#socketError
    }

    this.#state = this.status as CloseState
    this.endEarlyStreams()
    this.incoming.drop()
    this.outgoing.stopWatching()
    const isSent = this.status === 'closed' || isFinishing(this.socket)
    this.#closing?.settle(isSent ? undefined : event.error ?? new ConnectionClosedError())
  }

  /** Apply an event to the current state */
  #on (event: CloseEvent, error?: Error): void {
    const next = nextState(this.#state, event)

    if (next === this.#state) {
      return
    }

    switch (next) {
      case 'held':
      case 'draining':
        this.#state = next
        this.#closing ??= this.#beginClose(event === 'fin' ? 'fin' : 'close')

        if (next === 'draining') {
          this.#closing.start()
        }

        break
      case 'closed':
        this.onTransportClosed()

        if (event === 'timeout') {
          this.log('peer did not close within %dms, lingering', this.#settings.closeTimeout)
          this.#lingering.linger(this.socket)
        }

        break
      case 'aborted':
      case 'reset':
        if (event !== 'reset') {
          this.abort(error ?? new ConnectionClosedError('The socket was destroyed'))
        } else if (this.receiveEnd()) {
          this.outgoing.drop()

          if (next === 'reset') {
            this.onRemoteReset()
          } else {
            this.abort(withCause(new StreamResetError(), error))
          }
        }

        break
      default:
        this.#state = next
    }
  }

  #beginClose (cause: 'close' | 'fin'): Closing {
    this.status = 'closing'
    this.endEarlyStreams()
    this.remoteReadStatus = this.remoteReadStatus === 'closed' ? 'closed' : 'closing'

    return new Closing({
      socket: this.socket,
      cause,
      by: cause === 'fin' || this.remoteWriteStatus === 'closed' ? 'remote' : 'local',
      timeout: this.#settings.closeTimeout,
      unsent: this.unsent(),
      on: event => { this.#on(event) }
    })
  }

  /** The peer sent FIN: what `send` accepted still goes out, then we close too */
  #onEnd (): void {
    this.log('tcp end %a', this.remoteAddr)

    // an encrypter's answer to what came before FIN
    flushLate()

    if (this.status !== 'open' || !this.receiveEnd()) {
      return
    }

    if (this.#state === 'upgrading') {
      this.#cancelOverdue = afterPoll(AFTER_FIN, () => {
        this.outgoing.flush()
        this.socket.end()
        this.#on('overdue', new ConnectionClosedError('The peer closed the connection during the upgrade'))
      }, false)
    }

    if (!this.#settings.allowHalfOpen) {
      this.#on('fin')
    }

    this.onRemoteCloseWrite()
  }

  #onError (err: NodeJS.ErrnoException): void {
    this.log('tcp error %a - %e', this.remoteAddr, err)
    this.#socketError = err
    // hand on what came before the error
    this.incoming.flush()
    this.#on(RESET_CODES.includes(err.code ?? '') ? 'reset' : 'failure', err)
  }

  #onClose (): void {
    this.outgoing.onSocketClosed()
    this.log('tcp close %a', this.remoteAddr)
    this.#on('destroyed')
  }

  #onTimeout (): void {
    ifInactive(this.socket, () => {
      // the wait for the peer's FIN has a bound of its own
      if (this.#state === 'awaiting-fin') {
        return
      }

      this.log('tcp timeout %a', this.remoteAddr)
      this.#on('failure', new TimeoutError('The connection was inactive for too long'))
      this.socket.destroy()
    })
  }

  static readonly #listeners: SocketListeners<SocketConnection> = {
    data (data) { this[owner].receive(data) },
    drain () { this[owner].onSocketDrain() },
    end () { whenFinIsCertain(this, () => { this[owner].incoming.whenEmpty(() => { this[owner].#onEnd() }) }) },
    error (err) { this[owner].#onError(err) },
    close () { this[owner].#onClose() },
    timeout () { this[owner].#onTimeout() }
  }
}
