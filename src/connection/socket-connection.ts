import { ConnectionClosedError, TimeoutError } from '@libp2p/interface'
import { TCPStalledWriteError } from '../errors.ts'
import { flushLate } from '../event-loop/flush-soon.ts'
import { nextState } from './close-state.ts'
import { Closing } from './closing.ts'
import { DrainOrder } from './drain-order.ts'
import { EarlyStreams } from './early-streams.ts'
import { isFinishing, probe, reset, whenFinIsCertain } from './end-socket.ts'
import { Filtering } from './filtering.ts'
import { Incoming } from './incoming.ts'
import { ifInactive } from './liveness.ts'
import { MessageConnection } from './message-connection.ts'
import { MAX_WRITE_BYTES, Outgoing } from './outgoing.ts'
import { listen, owner } from './socket-listeners.ts'
import { Upgrade } from './upgrade.ts'
import { waitsForEncrypter } from './waits-for-encrypter.ts'
import type { CloseEvent, CloseState } from './close-state.ts'
import type { Lingering } from './fin-wait.ts'
import type { Reader } from './incoming.ts'
import type { Writer } from './outgoing.ts'
import type { SocketListeners } from './socket-listeners.ts'
import type { Traffic } from './traffic.ts'
import type { WireFilter } from './wire-filter.ts'
import type { ConnectionSettings } from '../settings.ts'
import type { AbortOptions, CounterGroup, Stream, StreamCloseEvent } from '@libp2p/interface'
import type { AbstractMultiaddrConnectionInit, SendResult } from '@libp2p/utils'
import type { Socket } from 'node:net'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface SocketConnectionInit extends Omit<AbstractMultiaddrConnectionInit, 'inactivityTimeout'> {
  /** A connected socket, created with `allowHalfOpen: true` */
  socket: Socket
  settings: ConnectionSettings

  /** Takes the socket if the peer has not sent FIN when `close()` resolves */
  lingering: Lingering

  /** Stands between the connection and the socket at first */
  filter?: WireFilter

  /**
   * How long data that the filter has answered waits for the next `send`, in ms: the reader of the answer will send
   * more. With 0 it leaves like any other
   */
  gather?: number
}

/** The peer closed its end before we had closed ours, or its host is gone. Nothing is wrong at this end */
const RESET_CODES = ['ECONNRESET', 'EPIPE']

/**
 * A libp2p MultiaddrConnection over a socket. It translates libp2p's verbs and the
 * socket's events for its parts: {@link Incoming}, {@link Outgoing}, {@link Filtering}, while it is being
 * upgraded {@link Upgrade} and, from the moment a close begins, {@link Closing}. A close, by either side, loses nothing of what `send`
 * accepted.
 */
export class SocketConnection extends MessageConnection implements Reader, Writer {
  readonly #socket: Socket
  readonly #settings: ConnectionSettings
  readonly #lingering: Lingering
  readonly #metrics?: CounterGroup
  readonly #metricPrefix: string
  readonly #incoming: Incoming
  readonly #outgoing: Outgoing
  readonly #filtering: Filtering
  readonly #gather: number

  /** Exists once a graceful close has begun */
  #closing?: Closing

  /**
   * Whether the encrypter reads through a queue, and so may write through one too, as TLS
   * does. No encrypter says so, but only such encrypters pause the connection. If something
   * else has paused it, the close takes two turns longer than it must.
   */
  #encrypterMayQueue = false

  #socketError?: Error

  /** Exists once a muxer shares the connection among streams */
  #drainOrder?: DrainOrder

  /** Exists while a peer that was dialed may not listen for streams yet */
  #earlyStreams?: EarlyStreams

  /** Exists while libp2p makes the layers above */
  #upgrade?: Upgrade

  constructor ({ socket, settings, lingering, filter, gather = 0, ...init }: SocketConnectionInit) {
    super({ ...init, inactivityTimeout: settings.inactivityTimeout })

    this.#socket = socket
    this.#settings = settings
    this.#lingering = lingering
    this.#gather = gather
    this.#metrics = init.metrics
    this.#metricPrefix = init.metricPrefix ?? ''
    this.#incoming = new Incoming(socket, this)
    this.#outgoing = new Outgoing(socket, settings.stalledWriteTimeout, this)
    this.#filtering = new Filtering(filter, this)

    listen(socket, SocketConnection.#listeners, this)
    socket.setTimeout(settings.inactivityTimeout)
  }

  /** Of the peer, while the socket is open. A multiaddr may hold a name */
  get remoteIP (): string | undefined {
    return this.#socket.remoteAddress
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

  protected maySendDirectly (data: Uint8Array | Uint8ArrayList): boolean {
    return this.#filtering.isOver && data.byteLength <= MAX_WRITE_BYTES && this.#earlyStreams?.holds() !== true
  }

  protected write (data: Uint8Array | Uint8ArrayList): boolean {
    const canSendMore = this.#outgoing.write(data)

    this.#earlyStreams?.onSent()
    this.traffic?.onSent(data.byteLength, canSendMore)

    return canSendMore
  }

  get [waitsForEncrypter] (): true {
    return true
  }

  /** Wants to know what the connection moves */
  traffic?: Traffic

  /** Sends what could not go the direct way, for example because it waited for 'drain' */
  sendData (all: Uint8ArrayList): SendResult {
    if (this.#earlyStreams?.holds() === true) {
      return { sentBytes: 0, canSendMore: false }
    }

    // the rest stays in the write buffer of the base class
    const data = all.byteLength > MAX_WRITE_BYTES ? all.sublist(0, MAX_WRITE_BYTES) : all
    const answer = this.#filtering.onSend(data)

    if (answer != null) {
      if (this.#gather > 0) {
        this.#outgoing.gather(this.#gather)
      }

      // not before `send` has returned
      queueMicrotask(() => {
        if (this.status === 'open') {
          this.onData(answer)
        }
      })
    }

    return {
      sentBytes: data.byteLength,
      canSendMore: this.write(data)
    }
  }

  onStalledWrite (): void {
    this.log('tcp stalled write %a', this.remoteAddr)
    this.#metrics?.increment({ [`${this.#metricPrefix}stalled_write`]: true })
    this.#on('failure', new TCPStalledWriteError(this.remoteAddr, this.#settings.stalledWriteTimeout))
  }

  onRead (data: Uint8Array): void {
    this.#outgoing.onPeerData()
    this.onData(data)
    this.#earlyStreams?.onReceived()
    this.traffic?.onReceived(data.byteLength)
  }

  /** A muxer shares the connection from now on. `streams` is the array of the muxer */
  onMuxed (streams: Stream[], isDialed: boolean): void {
    this.#drainOrder = new DrainOrder(streams)

    if (isDialed && this.status === 'open') {
      this.#earlyStreams = new EarlyStreams(streams, () => { this.#endEarlyStreams() })
    }
  }

  #endEarlyStreams (): void {
    this.#earlyStreams?.end()
    this.#earlyStreams = undefined
    this.#onDrain()
  }

  /** Called whenever somebody may have begun to listen */
  protected dispatchReadBuffer (): void {
    super.dispatchReadBuffer()
    this.#incoming.tryResume()
  }

  sendPause (): void {
    this.#encrypterMayQueue = true

    // once closing, everything that comes in is read and thrown away
    if (this.status === 'open') {
      this.#socket.pause()
    }
  }

  sendResume (): void {
    // the reader of what had been kept may have paused again
    if (this.readStatus !== 'paused') {
      this.#socket.resume()
    }
  }

  /** @throws {Error} as {@link Upgrade.run} */
  async upgrade <T> (run: () => Promise<T>): Promise<T> {
    this.#upgrade = new Upgrade({
      closing: () => this.#closing,
      closeError: () => this.closeError,
      end: () => {
        this.#outgoing.flush()
        this.#socket.end()
      },
      abort: err => { this.abort(err) }
    })

    try {
      return await this.#upgrade.run(run)
    } finally {
      this.#upgrade = undefined
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

      if (this.#socket.isPaused() || this.#socket.readableEnded) {
        // Node hides a reset on a socket that it does not read
        probe(this.#socket)
      }

      this.#discardInput()
      this.#beginClose('close')
    }

    this.#closing?.start()

    return this.#closing?.done(options)
  }

  #beginClose (cause: 'close' | 'fin'): void {
    this.status = 'closing'
    this.#endEarlyStreams()
    this.remoteReadStatus = this.remoteReadStatus === 'closed' ? 'closed' : 'closing'
    this.#closing = new Closing({
      socket: this.#socket,
      cause,
      by: cause === 'fin' || this.remoteWriteStatus === 'closed' ? 'remote' : 'local',
      timeout: this.#settings.closeTimeout,
      unsent: {
        encrypterMayQueue: () => this.#encrypterMayQueue,
        // While the socket is full, an encrypter may hold back what its own `send` has accepted,
        // and sends it after 'drain'
        isPending: () => this.writableNeedsDrain || this.writeBuffer.byteLength > 0,
        drain: async () => {
          // the base class forgets what handlers of its 'idle' event send
          this.processSendQueue()
          await this.onDrain()
        },
        end: () => {
          this.writeStatus = 'closing'
          this.#outgoing.flush()
        }
      },
      onDone: event => { this.#on(event) }
    })

    if (cause === 'close' || this.#upgrade == null) {
      this.#closing.start()
    }
  }

  /** From now on read all input and throw it away */
  #discardInput (): void {
    this.#incoming.drop()
    this.#socket.off('data', SocketConnection.#listeners.data)
    this.#socket.resume()
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
    this.#outgoing.flushNow()

    // After FIN there must be no reset: uv_tcp_close_reset and uv_shutdown exclude
    // each other. Node calls the latter when nothing waits any more.
    // https://docs.libuv.org/en/v1.x/tcp.html#c.uv_tcp_close_reset
    if (isFinishing(this.#socket)) {
      // only the wait for the peer is left to abort
      this.#lingering.linger(this.#socket)
    } else {
      reset(this.#socket)
    }
  }

  /** Adds what is known here to the event, and ends the parts */
  protected beforeClose (event: StreamCloseEvent): void {
    event.local ??= this.#closing?.by === 'local'

    if (event.error != null && this.status === 'reset') {
      event.error.cause = this.#socketError
    }

    this.#earlyStreams?.end()
    this.#incoming.drop()
    this.#outgoing.stopWatching()

    const isSent = this.status === 'closed' || isFinishing(this.#socket)
    this.#closing?.settle(isSent ? undefined : event.error ?? new ConnectionClosedError())
  }

  /** Like `status`, with a name for each step of a close */
  get #state (): CloseState {
    return this.status === 'closing' ? this.#closing?.state ?? 'draining' : this.status
  }

  /** Apply an event to the current state */
  #on (event: CloseEvent, error?: Error): void {
    const state = this.#state
    const next = nextState(state, event)

    if (next === state) {
      return
    }

    if (next === 'closed') {
      this.onTransportClosed()

      if (event === 'timeout') {
        this.log('peer did not close within %dms, lingering', this.#settings.closeTimeout)
        this.#lingering.linger(this.#socket)
      }
    } else if (next === 'aborted') {
      this.abort(error ?? new ConnectionClosedError('The socket was destroyed'))
    } else if (next === 'reset' && this.#filtering.onEnd()) {
      this.#outgoing.drop()

      if (this.#upgrade == null) {
        this.onRemoteReset()
      } else {
        this.#upgrade.onReset(error)
      }
    }
  }

  #onData (data: Uint8Array): void {
    const received = this.#filtering.onReceive(data)

    if (received != null) {
      this.#incoming.add(received)
    }
  }

  /** Node also emits 'drain' if the kernel took everything at once and nobody had to wait */
  #onDrain (): void {
    if (this.writableNeedsDrain && this.#earlyStreams?.holds() !== true) {
      this.#drainOrder?.next()
      this.safeDispatchEvent('drain')
    }
  }

  /** The peer sent FIN: what `send` accepted still goes out, then we close too */
  #onEnd (): void {
    this.log('tcp end %a', this.remoteAddr)

    // an encrypter's answer to what came before FIN
    flushLate()

    if (this.status !== 'open' || !this.#filtering.onEnd()) {
      return
    }

    this.#upgrade?.onFin()

    if (!this.#settings.allowHalfOpen) {
      this.#beginClose('fin')
    }

    this.onRemoteCloseWrite()
  }

  #onError (err: NodeJS.ErrnoException): void {
    this.log('tcp error %a - %e', this.remoteAddr, err)
    this.#socketError = err
    // hand on what came before the error
    this.#incoming.flush()
    this.#on(RESET_CODES.includes(err.code ?? '') ? 'reset' : 'failure', err)
  }

  #onClose (): void {
    this.#outgoing.onSocketClosed()
    this.log('tcp close %a', this.remoteAddr)
    this.#on('destroyed')
  }

  #onTimeout (): void {
    ifInactive(this.#socket, () => {
      if (this.#state === 'awaiting-fin') {
        // the wait for the peer's FIN has a bound of its own
        return
      }

      this.log('tcp timeout %a', this.remoteAddr)
      this.#on('failure', new TimeoutError('The connection was inactive for too long'))
      this.#socket.destroy()
    })
  }

  static readonly #listeners: SocketListeners<SocketConnection> = {
    data (data) { this[owner].#onData(data) },
    drain () { this[owner].#onDrain() },
    end () { whenFinIsCertain(this, () => { this[owner].#incoming.whenEmpty(() => { this[owner].#onEnd() }) }) },
    error (err) { this[owner].#onError(err) },
    close () { this[owner].#onClose() },
    timeout () { this[owner].#onTimeout() }
  }
}
