import { ConnectionClosedError, StreamResetError, TimeoutError } from '@libp2p/interface'
import { MAX_WRITE_BYTES } from '../constants.ts'
import { TCPStalledWriteError } from '../errors.ts'
import { closeBatcher, openBatcher } from '../event-loop/flush-soon.ts'
import { GracefulConnection } from './graceful-connection.ts'
import { Incoming } from './incoming.ts'
import { listen, owner } from './socket-listeners.ts'
import { ifInactive } from './inactivity.ts'
import { StallWatch } from './stall-watch.ts'
import type { GracefulConnectionInit } from './graceful-connection.ts'
import type { Reader } from './incoming.ts'
import type { SocketListeners } from './socket-listeners.ts'
import type { WireFilter } from './wire-filter.ts'
import type { CounterGroup, StreamCloseEvent } from '@libp2p/interface'
import type { SendResult } from '@libp2p/utils'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface SocketConnectionInit extends GracefulConnectionInit {
  /** Stands between the connection and the socket at first */
  filter?: WireFilter
}

/** The peer closed its end before ours was done, or its host is gone: nothing wrong at this end */
const RESET_CODES = ['ECONNRESET', 'EPIPE']

/**
 * A libp2p MultiaddrConnection over a socket.
 */
export class SocketConnection extends GracefulConnection implements Reader {
  readonly #metrics?: CounterGroup
  readonly #metricPrefix: string
  readonly #reads: Incoming

  #filter?: WireFilter

  /** Exists since the kernel first did not take all at once */
  #writeWatch?: StallWatch

  #socketError?: Error

  constructor (init: SocketConnectionInit) {
    super(init)

    this.#metrics = init.metrics
    this.#metricPrefix = init.metricPrefix ?? ''
    this.#filter = init.filter
    this.#reads = new Incoming(this.socket, this)

    if (!this.socket.closed) {
      openBatcher()
    }

    listen(this.socket, SocketConnection.#listeners, this)
    this.socket.setTimeout(init.settings.inactivityTimeout)
  }

  protected canSendDirectly (bytes: number): boolean {
    return this.#filter == null && bytes <= MAX_WRITE_BYTES
  }

  protected sendDirectly (data: Uint8Array | Uint8ArrayList): boolean {
    return this.writes.write(data)
  }

  /** Called whenever somebody may have begun to listen */
  protected dispatchReadBuffer (): void {
    super.dispatchReadBuffer()
    this.#reads.goOn()
  }

  onRead (data: Uint8Array): void {
    this.writes.onPeerData()
    this.onData(data)
  }

  sendData (all: Uint8ArrayList): SendResult {
    // the rest stays in the write buffer of the base class, until 'drain' if it must
    const data = all.byteLength > MAX_WRITE_BYTES ? all.sublist(0, MAX_WRITE_BYTES) : all
    const answer = this.#filter?.onSend(data)
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
      canSendMore: this.writes.write(data)
    }
  }

  protected discardInput (): void {
    this.#reads.drop()
    this.socket.off('data', SocketConnection.#listeners.data)
    this.socket.resume()
  }

  sendPause (): void {
    // once closing, everything that comes in is read and thrown away
    if (this.status === 'open') {
      this.socket.pause()
    }
  }

  sendResume (): void {
    // whoever was given what had been kept may have paused again
    if (this.readStatus !== 'paused') {
      this.socket.resume()
    }
  }

  /** Completes what the base class dispatches by what Node said of a reset */
  dispatchEvent (event: Event): boolean {
    if (event.type === 'close') {
      const { error } = event as StreamCloseEvent

      if (error instanceof StreamResetError) {
        error.cause ??= this.#socketError
      }

      this.#writeWatch?.stop()
      this.#reads.drop()
    }

    return super.dispatchEvent(event)
  }

  #onData (data: Uint8Array): void {
    if (this.#filter == null || this.#filtered(filter => { data = filter.onReceive(data) })) {
      this.#reads.add(data)
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

    if (this.status !== 'open' || !this.#filtered(filter => { filter.onEnd() })) {
      return
    }

    this.closedBy ??= 'remote'

    if (!this.settings.allowHalfOpen) {
      this.closeGracefully()
    }

    this.onRemoteCloseWrite()
  }

  #onError (err: NodeJS.ErrnoException): void {
    this.log('tcp error %a - %e', this.remoteAddr, err)
    this.#socketError = err
    this.#reads.flush()

    if (this.status !== 'open' && this.status !== 'closing') {
      return
    }

    // go-libp2p resets every connection that it closes: once all is sent and
    // our FIN is out, that is as good as the peer's FIN
    if (this.socket.writableFinished) {
      return
    }

    if (err.code != null && RESET_CODES.includes(err.code)) {
      if (this.#filtered(filter => { filter.onEnd() })) {
        this.writes.drop()
        this.onRemoteReset()
      }
    } else {
      this.abort(err)
    }
  }

  #onClose (): void {
    closeBatcher()
    this.log('tcp close %a', this.remoteAddr)

    // destroyed from elsewhere, for instance because the node stops
    if (this.status === 'open' || this.#isUnsent()) {
      this.abort(new ConnectionClosedError('The socket was destroyed'))
    } else {
      this.onTransportClosed()
    }
  }

  #isUnsent (): boolean {
    return this.status === 'closing' && !this.socket.writableFinished
  }

  onBacklog (): void {
    if (this.settings.stalledWriteTimeout > 0 && (this.status === 'open' || this.status === 'closing')) {
      this.#writeWatch ??= new StallWatch(this.socket, this.settings.stalledWriteTimeout, () => { this.#onStalledWrite() })
      this.#writeWatch.start()
    }
  }

  #onStalledWrite (): void {
    this.log('tcp stalled write %a', this.remoteAddr)
    this.#metrics?.increment({ [`${this.#metricPrefix}stalled_write`]: true })
    this.abort(new TCPStalledWriteError(this.remoteAddr, this.settings.stalledWriteTimeout))
  }

  #onTimeout (): void {
    ifInactive(this.socket, () => {
      if (this.status === 'closing' && this.socket.writableFinished) {
        // the wait for the peer's FIN has a bound of its own
        return
      }

      this.log('tcp timeout %a', this.remoteAddr)
      this.abort(new TimeoutError('The connection was inactive for too long'))
      this.socket.destroy()
    })
  }

  static readonly #listeners: SocketListeners<SocketConnection> = {
    data (data) { this[owner].#onData(data) },
    drain () { this[owner].#onDrain() },
    end () { this[owner].#reads.after(() => { this[owner].#onEnd() }) },
    error (err) { this[owner].#onError(err) },
    close () { this[owner].#onClose() },
    timeout () { this[owner].#onTimeout() }
  }
}
