import { ConnectionClosedError, StreamMessageEvent } from '@libp2p/interface'
import { AbstractMultiaddrConnection } from '@libp2p/utils'
import { raceSignal } from 'race-signal'
import { Uint8ArrayList } from 'uint8arraylist'
import type { AbortOptions, StreamCloseEvent } from '@libp2p/interface'

/**
 * libp2p's base class of a connection, repaired. Delete this class when `@libp2p/utils`
 * no longer does these:
 *
 * - `onDrain` resolves at once from its second use on
 * - all input goes through lists, which cost more than a small message itself. Here it takes
 * the direct way if nothing waits, which is nearly always
 * - a logger that throws at the peer's FIN ends the process
 */
export abstract class MessageConnection extends AbstractMultiaddrConnection {
  #drained?: PromiseWithResolvers<void>

  /** The error that ended the connection. Undefined after a close */
  closeError?: Error

  /** The connection is over, and this event is about to be dispatched */
  protected abstract beforeClose (event: StreamCloseEvent): void

  abstract close (options?: AbortOptions): Promise<void>

  /** Only the base class's `close` calls it */
  async sendClose (): Promise<void> {}

  /** As the base class's */
  onData (data: Uint8Array | Uint8ArrayList): void {
    const isDirect = this.readStatus === 'readable' &&
      this.remoteWriteStatus !== 'closed' &&
      this.readBuffer.byteLength === 0 &&
      data.byteLength > 0 &&
      this.listenerCount('message') > 0

    if (isDirect) {
      this.dispatchEvent(new StreamMessageEvent(new Uint8ArrayList(data)))
    } else {
      super.onData(data)
    }
  }

  /** As the base class's, without its line of trace */
  onRemoteCloseWrite (): void {
    if (this.remoteWriteStatus === 'closed') {
      return
    }

    this.remoteWriteStatus = 'closed'
    this.safeDispatchEvent('remoteCloseWrite')
    this.maybeDispatchEnd()

    if (this.writeStatus === 'closed') {
      this.onTransportClosed()
    }
  }

  /**
   * Wait until the peer has taken enough of what was sent for more to be sent.
   *
   * @throws {Error} what ended the connection
   */
  async onDrain (options?: AbortOptions): Promise<void> {
    if (!this.writableNeedsDrain) {
      return
    }

    if (!this.#isAlive()) {
      throw this.#endedBy()
    }

    this.#drained ??= Promise.withResolvers()

    return raceSignal(this.#drained.promise, options?.signal)
  }

  dispatchEvent (event: Event): boolean {
    if (event.type === 'close') {
      this.#onClose(event as StreamCloseEvent)
    }

    return event.type === 'drain' ? this.#dispatchDrain(event) : super.dispatchEvent(event)
  }

  /** Called before the listeners of the base class: they count by this event how the connection ended */
  #onClose (event: StreamCloseEvent): void {
    this.beforeClose(event)
    this.closeError = event.error
    this.#drained?.reject(this.#endedBy())
  }

  #dispatchDrain (event: Event): boolean {
    const drained = this.#drained
    this.#drained = undefined

    const result = super.dispatchEvent(event)

    // the base class has sent what it kept, unless a listener has ended the connection
    if (this.#isAlive()) {
      drained?.resolve()
    } else {
      drained?.reject(this.#endedBy())
    }

    return result
  }

  #isAlive (): boolean {
    return this.status === 'open' || this.status === 'closing'
  }

  #endedBy (): Error {
    return this.closeError ?? new ConnectionClosedError()
  }
}
