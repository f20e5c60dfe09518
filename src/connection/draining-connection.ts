import { ConnectionClosedError } from '@libp2p/interface'
import { AbstractMultiaddrConnection } from '@libp2p/utils'
import { raceSignal } from 'race-signal'
import type { AbortOptions, StreamCloseEvent } from '@libp2p/interface'

/** libp2p's base class, whose `onDrain` waits only once. Delete this class when that of `@libp2p/utils` waits each time */
export abstract class DrainingConnection extends AbstractMultiaddrConnection {
  #drained?: PromiseWithResolvers<void>

  /** The error that ended the connection. Undefined after a close */
  closeError?: Error

  /** The connection is over, and this event is about to be dispatched */
  protected abstract beforeClose (event: StreamCloseEvent): void

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
