import { ConnectionClosedError, StreamMessageEvent } from '@libp2p/interface'
import { AbstractMultiaddrConnection } from '@libp2p/utils'
import { raceSignal } from 'race-signal'
import { Uint8ArrayList, isUint8ArrayList } from 'uint8arraylist'
import { COPY_BYTES } from '../constants.ts'
import type { AbortOptions, StreamCloseEvent } from '@libp2p/interface'

/**
 * A MultiaddrConnection whose messages take the direct way where nothing waits,
 * which is nearly always: the lists and the event of the base class cost more
 * than a small message itself. And one whose `onDrain` works every time.
 */
export abstract class DirectConnection extends AbstractMultiaddrConnection {
  #drained?: PromiseWithResolvers<void>

  /** What ended it, if it was no close */
  closeError?: Error

  /** Whether `sendDirectly` may be called in place of `sendData` */
  protected abstract canSendDirectly (bytes: number): boolean

  /**
   * Accept all bytes
   *
   * @returns whether more can be taken now
   */
  protected abstract sendDirectly (data: Uint8Array | Uint8ArrayList): boolean

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
      this.canSendDirectly(data.byteLength)

    if (!isDirect) {
      return super.send(this.writableNeedsDrain && data.byteLength < COPY_BYTES ? copyOf(data) : data)
    }

    this.log.trace('send %d bytes', data.byteLength)
    this.writableNeedsDrain = !this.sendDirectly(data)

    return !this.writableNeedsDrain
  }

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

  /** As the base class's, without its line of trace: a logger that throws would end the process at the peer's FIN */
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
   * Wait until the peer has taken enough of what was sent for more to make
   * sense. Unlike the base class's this works every time, not just once.
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
    const drained = this.#drained

    if (event.type === 'close') {
      this.closeError = (event as StreamCloseEvent).error
      drained?.reject(this.#endedBy())
    } else if (event.type === 'drain') {
      this.#drained = undefined
    }

    const result = super.dispatchEvent(event)

    if (event.type !== 'drain') {
      return result
    }

    // the base class has made the buffered data go on, unless a listener has put an end to it
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

/** The base class keeps it until the socket drains, while the caller may use its buffer again */
function copyOf (data: Uint8Array | Uint8ArrayList): Uint8Array {
  // `slice` of a Buffer would be no copy
  return data instanceof Uint8Array ? new Uint8Array(data) : data.slice()
}
