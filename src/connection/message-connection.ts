import { ConnectionClosedError, StreamMessageEvent } from '@libp2p/interface'
import { AbstractMultiaddrConnection } from '@libp2p/utils'
import { raceSignal } from 'race-signal'
import { Uint8ArrayList, isUint8ArrayList } from 'uint8arraylist'
import { COPY_BYTES } from '../bytes/copy-run.ts'
import type { AbortOptions, StreamCloseEvent } from '@libp2p/interface'

/**
 * libp2p's base class of a connection, repaired. Delete this class when `@libp2p/utils`
 * no longer does these:
 *
 * - `onDrain` resolves at once from its second use on
 * - all that comes and is sent goes through lists, which cost more than a small message itself. Here it
 * takes the direct way if nothing waits, which is nearly always
 */
export abstract class MessageConnection extends AbstractMultiaddrConnection {
  #drained?: PromiseWithResolvers<void>

  /** The error that ended the connection. Undefined after a close */
  closeError?: Error

  /** The connection is over, and this event is about to be dispatched */
  protected abstract beforeClose (event: StreamCloseEvent): void

  abstract close (options?: AbortOptions): Promise<void>

  /** Whether this may go to the socket at once, if nothing waits before it */
  protected abstract maySendDirectly (data: Uint8Array | Uint8ArrayList): boolean

  /**
   * Takes all of it.
   *
   * @returns whether the socket takes more
   */
  protected abstract write (data: Uint8Array | Uint8ArrayList): boolean

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

  /** As the base class's */
  send (data: Uint8Array | Uint8ArrayList): boolean {
    const isDirect = this.writeStatus === 'writable' &&
      !this.writableNeedsDrain &&
      !this.sendingData &&
      this.writeBuffer.byteLength === 0 &&
      this.maxMessageSize == null &&
      this.listenerCount('idle') === 0 &&
      (data instanceof Uint8Array || isUint8ArrayList(data)) &&
      data.byteLength > 0 &&
      this.maySendDirectly(data)

    if (!isDirect) {
      // the base class keeps it until the socket drains, while the caller may use its buffer again
      return super.send(this.writableNeedsDrain && data.byteLength < COPY_BYTES ? copyOf(data) : data)
    }

    this.log.trace('send %d bytes', data.byteLength)
    this.writableNeedsDrain = !this.write(data)

    return !this.writableNeedsDrain
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

/** `slice` of a Buffer would be no copy */
function copyOf (data: Uint8Array | Uint8ArrayList): Uint8Array {
  return data instanceof Uint8Array ? new Uint8Array(data) : data.slice()
}
