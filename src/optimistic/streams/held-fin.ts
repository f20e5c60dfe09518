import { ConnectionClosedError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { handled } from './failed-stream.ts'
import { restoreOwn } from './filterable-stream.ts'
import { keepEnd } from './kept-end.ts'
import type { FilterableStream } from './filterable-stream.ts'
import type { AbortOptions, StreamCloseEvent } from '@libp2p/interface'

/** A stream that closes its two directions separately, as AbstractStream of `@libp2p/utils` does */
export interface HalfClosableStream extends FilterableStream {
  sendCloseWrite(options?: AbortOptions): Promise<void>
}

/**
 * - `open`: nobody closes the stream
 * - `flushing`: somebody does, and its last data waits in the stream
 * - `held`: the muxer has all data, and FIN waits until it may follow
 * - `sent`: FIN has left
 * - `lost`: the stream ended before FIN could leave
 */
type FinState = 'open' | 'flushing' | 'held' | 'sent' | 'lost'

export interface HeldFinInit {
  /** What FIN waits for after it was allowed to leave */
  delay(): Promise<unknown> | undefined

  /** FIN has left or never will */
  onLeft(): void
}

/**
 * Holds back the FIN of a stream until the peer has accepted its protocol, and tells everybody who
 * closes the stream how that went.
 *
 * AbstractStream's own `close` waits for events of the stream only. If the stream ends while its
 * data still waits, `close` may never settle, resolve, or reject with an event. So it runs without
 * an audience here.
 */
export class HeldFin {
  readonly #stream: HalfClosableStream
  readonly #close: HalfClosableStream['close']
  readonly #sendCloseWrite: HalfClosableStream['sendCloseWrite']
  readonly #init: HeldFinInit
  #state: FinState = 'open'
  #isAccepted = false

  /** Resolves when FIN may leave */
  readonly #allowed = Promise.withResolvers<void>()

  /** Resolves when FIN has left or never will */
  readonly #left = Promise.withResolvers<void>()

  /** What `close` settles with */
  readonly #closed = Promise.withResolvers<void>()

  constructor (stream: HalfClosableStream, init: HeldFinInit) {
    this.#stream = stream
    this.#close = stream.close.bind(stream)
    this.#sendCloseWrite = stream.sendCloseWrite.bind(stream)
    this.#init = init
    this.#closed.promise.catch(() => {})

    stream.close = this.#closeOwn
    stream.sendCloseWrite = async () => this.#send()
    stream.addEventListener('close', this.#onClose)
  }

  /** Whether all data was sent and FIN waits */
  get isHeld (): boolean {
    return this.#state === 'held'
  }

  /** Resolves when FIN has left or never will */
  get left (): Promise<void> {
    return this.#left.promise
  }

  /** The peer speaks the protocol: FIN may leave */
  accept (): void {
    this.#isAccepted = true

    if (this.#state === 'held') {
      this.#keepEnd()
    }

    this.#allowed.resolve()
    this.#finish()
  }

  /** FIN may leave although the peer has not replied. Callers of `close` still wait for its verdict */
  allow (): void {
    this.#allowed.resolve()
  }

  /** FIN must not leave any more, and `close` rejects with this */
  fail (error: Error): void {
    this.#closed.reject(error)

    if (this.#state !== 'sent' && this.#state !== 'lost') {
      this.#end('lost')
    }
  }

  /**
   * Close the stream, unless somebody has begun to, and wait for its FIN. Like a muxer's `close`,
   * this does not wait for data that another caller of `close` waits for.
   */
  async close (): Promise<void> {
    const isOthers = this.#state === 'flushing'

    this.#begin()

    if (!isOthers) {
      await this.#left.promise
    }
  }

  /** Not async: that would make another promise, which nobody handles */
  readonly #closeOwn: HalfClosableStream['close'] = options => {
    if (this.#state === 'sent' || this.#state === 'lost') {
      // somebody else has built on this
      return this.#close(options)
    }

    this.#begin()

    return handled(raceSignal(this.#closed.promise, options?.signal))
  }

  /** The stream is told how the peer has ended it once those who close it have heard of that */
  #keepEnd (): void {
    keepEnd(this.#stream, this.#closed.promise, () => { this.#onEnd() })
  }

  #begin (): void {
    if (this.#state !== 'open') {
      return
    }

    this.#state = 'flushing'
    // without a signal: that of a caller ends its wait, not the close
    this.#close().then(() => { this.#finish() }, err => { this.fail(errorOf(err)) })
  }

  async #send (): Promise<void> {
    if (this.#state === 'open' || this.#state === 'flushing') {
      this.#state = 'held'

      if (this.#isAccepted) {
        this.#keepEnd()
      }
    }

    await Promise.race([this.#allowed.promise, this.#left.promise])
    await this.#init.delay()

    if (this.#state !== 'held') {
      // tells AbstractStream that there is nothing more to do
      throw new ConnectionClosedError('The stream ended before its FIN could leave')
    }

    this.#end('sent')
    await this.#sendCloseWrite()

    if (this.#isAccepted) {
      // AbstractStream may go on to end the stream, and who closes it listens once `close` has settled
      this.#stream.writeStatus = 'closed'
      this.#closed.resolve()
      await new Promise(resolve => { setImmediate(resolve) })
    }
  }

  /** AbstractStream's `close` is over, or the peer has accepted */
  #finish (): void {
    if (this.#isAccepted && this.#state === 'sent' && this.#stream.writeStatus === 'closed') {
      this.#closed.resolve()
    }
  }

  readonly #onClose = ({ error }: StreamCloseEvent): void => {
    if (error != null) {
      this.fail(error)
    } else if (this.#state === 'flushing') {
      this.fail(new ConnectionClosedError('The connection was closed before all data was sent'))
    } else {
      this.#onEnd()
    }
  }

  /** The peer has all data, and closed the connection before our FIN */
  #onEnd (): void {
    this.#stream.writeStatus = 'closed'
    this.#closed.resolve()

    if (this.#state !== 'sent' && this.#state !== 'lost') {
      this.#end('lost')
    }
  }

  #end (state: 'sent' | 'lost'): void {
    const stream = this.#stream

    this.#state = state
    this.#left.resolve()
    this.#init.onLeft()
    stream.removeEventListener('close', this.#onClose)
    restoreOwn(stream, { close: this.#closeOwn })

    // AbstractStream may still send the FIN of a stream that was reset: mplex counts that as an attack
    if (state === 'sent') {
      Reflect.deleteProperty(stream, 'sendCloseWrite')
    }
  }
}

/** AbstractStream rejects with the event that ended the stream */
function errorOf (reason: unknown): Error {
  if (reason instanceof Error) {
    return reason
  }

  return (reason as Partial<StreamCloseEvent> | undefined)?.error ?? new ConnectionClosedError('The connection was closed before all data was sent')
}
