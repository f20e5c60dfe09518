import { ConnectionClosedError, StreamResetError, TimeoutError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { isUnix } from '../addresses.ts'
import { INACTIVITY_TIMEOUT, MAX_UNREAD_BYTES, MAX_WRITE_BYTES } from '../constants.ts'
import { TCPStalledWriteError } from '../errors.ts'
import { finish } from './close-path.ts'
import { DirectConnection } from './direct-connection.ts'
import { listen, owner } from './socket-listeners.ts'
import { ifInactive } from './timers.ts'
import { WritePath } from './write-path.ts'
import { WriteWatch } from './write-watch.ts'
import type { LingeringSockets } from './close-path.ts'
import type { SocketListeners } from './socket-listeners.ts'
import type { WireFilter } from './wire-filter.ts'
import type { AbortOptions, CounterGroup, StreamCloseEvent } from '@libp2p/interface'
import type { AbstractMultiaddrConnectionInit, SendResult } from '@libp2p/utils'
import type { Socket } from 'node:net'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface SocketConnectionInit extends AbstractMultiaddrConnectionInit {
  /** A connected socket, created with `allowHalfOpen: true` */
  socket: Socket

  /** How long `close()` waits for the peer's FIN, in ms */
  closeTimeout: number

  /** Abort if the peer takes nothing of what waits to be sent for so long, in ms; 0 for never */
  stalledWriteTimeout: number

  /** Stay writable when the peer sends FIN, until `close()` is called */
  allowHalfOpen: boolean

  /** Takes the socket where the peer has not sent FIN when `close()` is done */
  lingering: LingeringSockets

  /** Stands between the connection and the socket at first */
  filter?: WireFilter
}

/** The peer closed its end before ours was done, or its host is gone: nothing wrong at this end */
const RESET_CODES = ['ECONNRESET', 'EPIPE']

/**
 * A libp2p MultiaddrConnection over a socket.
 */
export class SocketConnection extends DirectConnection {
  readonly #socket: Socket
  readonly #writes: WritePath
  readonly #lingering: LingeringSockets
  readonly #closeTimeout: number
  readonly #stalledWriteTimeout: number
  readonly #allowHalfOpen: boolean
  readonly #metrics?: CounterGroup
  readonly #metricPrefix: string

  #filter?: WireFilter

  /** Which side closed first */
  #closedBy?: 'local' | 'remote'

  /** The one graceful close that all callers of `close()` wait for; the 'close' event settles it */
  #closing?: PromiseWithResolvers<void>

  /** Exists since the kernel first did not take all at once */
  #writeWatch?: WriteWatch

  #socketError?: Error

  constructor (init: SocketConnectionInit) {
    super(init)

    this.#socket = init.socket
    this.#writes = new WritePath(init.socket, () => { this.#watchWrites() })
    this.#lingering = init.lingering
    this.#closeTimeout = init.closeTimeout
    this.#stalledWriteTimeout = init.stalledWriteTimeout
    this.#allowHalfOpen = init.allowHalfOpen
    this.#metrics = init.metrics
    this.#metricPrefix = init.metricPrefix ?? ''
    this.#filter = init.filter

    listen(this.#socket, SocketConnection.#listeners, this)
    this.#socket.setTimeout(init.inactivityTimeout ?? INACTIVITY_TIMEOUT)
  }

  protected canSendDirectly (bytes: number): boolean {
    return this.#filter == null && bytes <= MAX_WRITE_BYTES
  }

  protected sendDirectly (data: Uint8Array | Uint8ArrayList): boolean {
    return this.#writes.write(data)
  }

  /** Called whenever somebody may have begun to listen */
  protected dispatchReadBuffer (): void {
    super.dispatchReadBuffer()

    // held back while nobody listened, see below
    if (this.readBuffer.byteLength === 0 && this.readStatus !== 'paused' && this.#socket.isPaused()) {
      this.#socket.resume()
    }
  }

  sendData (all: Uint8ArrayList): SendResult {
    // the rest stays in the write buffer of the base class, until 'drain' if it must
    const data = all.byteLength > MAX_WRITE_BYTES ? all.sublist(0, MAX_WRITE_BYTES) : all
    const answer = this.#filter?.sending(data)
    this.#dropFilterIfDone()

    if (answer != null) {
      // not before `send` has returned
      queueMicrotask(() => {
        if (this.status === 'open') {
          this.onData(answer)
        }
      })
    }

    return {
      sentBytes: data.byteLength,
      canSendMore: this.#writes.write(data)
    }
  }

  /**
   * Send everything that `send` accepted, then FIN, and resolve at the peer's
   * FIN, or `closeTimeout` ms after ours was handed to the kernel. From the call
   * on nothing more is delivered, and nothing more can be sent unless what was
   * sent before still waits for the socket to drain.
   *
   * The signal ends the wait, not the close: to give up call `abort`.
   *
   * @throws {Error} what ended the connection before everything was sent
   */
  async close (options?: AbortOptions): Promise<void> {
    if (this.status === 'open' || this.status === 'closing') {
      // what came before anybody listened, or while paused
      this.readBuffer.consume(this.readBuffer.byteLength)
    }

    if (this.#closing == null) {
      if (this.status !== 'open') {
        return
      }

      this.#closedBy ??= 'local'

      // While the socket is full, the encrypter above may hold back what did not
      // fit, and sends it after 'drain': that too was accepted by its `send`
      if (!this.#isPending()) {
        this.writeStatus = 'closing'
      }

      this.remoteWriteStatus = this.remoteWriteStatus === 'closed' ? 'closed' : 'closing'
      this.#socket.off('data', SocketConnection.#listeners.data)
      this.#socket.resume()
      this.#closeGracefully()
    }

    return raceSignal(this.#closing?.promise, options?.signal)
  }

  #closeGracefully (): void {
    this.status = 'closing'
    this.remoteReadStatus = this.remoteReadStatus === 'closed' ? 'closed' : 'closing'
    this.#closing = Promise.withResolvers()
    // whoever waits is told, but nobody has to wait
    this.#closing.promise.catch(() => {})

    if (this.writeStatus === 'closing') {
      void this.sendClose()
      return
    }

    this.#flush().then(async () => this.sendClose(), () => {
      // aborted or reset meanwhile: the 'close' event has told
    })
  }

  #isPending (): boolean {
    return this.writableNeedsDrain || this.writeBuffer.byteLength > 0
  }

  /** Everything was handed to the kernel, and the FIN is about to be, if it was not yet */
  #isSent (): boolean {
    return this.#socket.writableEnded && this.#socket.writableLength === 0
  }

  async #flush (): Promise<void> {
    // whoever hears of the peer's FIN may answer it
    await Promise.resolve()

    while (this.#isPending()) {
      // the base class forgets what is sent while it tells that it is idle
      this.processSendQueue()
      await this.onDrain()
      // let whoever waited for 'drain' send
      await new Promise<void>(resolve => { setImmediate(resolve) })
    }
  }

  async sendClose (): Promise<void> {
    if (this.status !== 'closing') {
      return
    }

    this.writeStatus = 'closing'
    this.#writes.flush()

    const closed = await finish(this.#socket, this.#closeTimeout)

    if (this.status !== 'closing') {
      return
    }

    this.onTransportClosed()

    if (!closed) {
      this.log('peer did not close within %dms, lingering', this.#closeTimeout)
      this.#lingering.add(this.#socket)
    }
  }

  sendReset (): void {
    this.#writes.drop()

    // There is no RST on unix sockets. After FIN `resetAndDestroy` must not be
    // called: uv_tcp_close_reset and uv_shutdown exclude each other.
    // https://docs.libuv.org/en/v1.x/tcp.html#c.uv_tcp_close_reset
    if (this.#isSent()) {
      // what remains to abort is the wait for the peer
      this.#lingering.add(this.#socket)
    } else if (this.#socket.writableEnded || isUnix(this.remoteAddr)) {
      this.#socket.destroy()
    } else {
      this.#socket.resetAndDestroy()
    }
  }

  sendPause (): void {
    // once closing, everything that comes in is read and thrown away
    if (this.status === 'open') {
      this.#socket.pause()
    }
  }

  sendResume (): void {
    this.#socket.resume()
  }

  /**
   * Completes what the base class dispatches: which side closed, for the
   * metrics and for whoever listens, and what Node said of a reset.
   */
  dispatchEvent (event: Event): boolean {
    if (event.type === 'close') {
      const closeEvent = event as StreamCloseEvent
      closeEvent.local ??= this.#closedBy === 'local'

      if (closeEvent.error instanceof StreamResetError) {
        closeEvent.error.cause ??= this.#socketError
      }

      this.#writeWatch?.stop()

      if (closeEvent.error == null || this.#isSent()) {
        this.#closing?.resolve()
      } else {
        this.#closing?.reject(closeEvent.error)
      }
    }

    return super.dispatchEvent(event)
  }

  #onData (data: Uint8Array): void {
    this.#writes.heard()

    if (this.#filter == null) {
      this.onData(data)
    } else {
      this.#filtered(filter => {
        this.onData(filter.received(data))
      })
    }

    // nobody listens (the upgrade waits for something else): let the peer wait too
    if (this.readBuffer.byteLength >= MAX_UNREAD_BYTES && this.status === 'open') {
      this.#socket.pause()
    }
  }

  /** @returns whether the connection lives on */
  #filtered (use: (filter: WireFilter) => void): boolean {
    const filter = this.#filter

    if (filter == null) {
      return true
    }

    try {
      use(filter)
      this.#dropFilterIfDone()
      return true
    } catch (err: any) {
      this.#filter = undefined
      this.abort(err)
      return false
    }
  }

  #dropFilterIfDone (): void {
    if (this.#filter?.done === true) {
      this.#filter = undefined
    }
  }

  /** Node emits 'drain' also where the kernel took everything at once and nobody had to wait */
  #onDrain (): void {
    if (this.writableNeedsDrain) {
      this.safeDispatchEvent('drain')
    }
  }

  /** The peer sent FIN: what was accepted still goes out, then we close too */
  #onEnd (): void {
    this.log('tcp end %a', this.remoteAddr)

    if (this.status !== 'open' || !this.#filtered(filter => { filter.ended() })) {
      return
    }

    this.#closedBy ??= 'remote'

    if (!this.#allowHalfOpen) {
      this.#closeGracefully()
    }

    this.onRemoteCloseWrite()
  }

  #onError (err: NodeJS.ErrnoException): void {
    this.log('tcp error %a - %e', this.remoteAddr, err)
    this.#socketError = err

    if (this.status !== 'open' && this.status !== 'closing') {
      return
    }

    // go-libp2p resets every connection that it closes: once all is sent and
    // our FIN is out, that is as good as the peer's FIN
    if (this.#socket.writableFinished) {
      return
    }

    if (err.code != null && RESET_CODES.includes(err.code)) {
      if (this.#filtered(filter => { filter.ended() })) {
        this.#writes.drop()
        this.onRemoteReset()
      }
    } else {
      this.abort(err)
    }
  }

  #onClose (): void {
    this.log('tcp close %a', this.remoteAddr)

    // destroyed from elsewhere, for instance because the node stops
    if (this.status === 'open' || this.#isUnsent()) {
      this.abort(new ConnectionClosedError('The socket was destroyed'))
    } else {
      this.onTransportClosed()
    }
  }

  #isUnsent (): boolean {
    return this.status === 'closing' && !this.#socket.writableFinished
  }

  #watchWrites (): void {
    if (this.#stalledWriteTimeout > 0 && (this.status === 'open' || this.status === 'closing')) {
      this.#writeWatch ??= new WriteWatch(this.#socket, this.#stalledWriteTimeout, () => { this.#onStalledWrite() })
      this.#writeWatch.start()
    }
  }

  #onStalledWrite (): void {
    this.log('tcp stalled write %a', this.remoteAddr)
    this.#metrics?.increment({ [`${this.#metricPrefix}stalled_write`]: true })
    this.abort(new TCPStalledWriteError(this.remoteAddr, this.#stalledWriteTimeout))
  }

  #onTimeout (): void {
    ifInactive(this.#socket, () => {
      this.log('tcp timeout %a', this.remoteAddr)
      this.abort(new TimeoutError('The connection was inactive for too long'))
      this.#socket.destroy()
    })
  }

  static readonly #listeners: SocketListeners<SocketConnection> = {
    data (data) { this[owner].#onData(data) },
    drain () { this[owner].#onDrain() },
    end () { this[owner].#onEnd() },
    error (err) { this[owner].#onError(err) },
    close () { this[owner].#onClose() },
    timeout () { this[owner].#onTimeout() }
  }
}
