import { ConnectionClosedError, StreamResetError, StreamResetEvent } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { withCause } from '../errors.ts'
import { setImmediate } from '../event-loop/immediate.ts'
import { Flag } from './frames.ts'
import { KeptFin } from './kept-fin.ts'
import { ReceivingStream } from './receiving-stream.ts'
import type { Frame } from './decoder.ts'
import type { Proposal } from '../optimistic/proposal.ts'
import type { AbortOptions, EventHandler, MessageStreamEvents } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * - `open`: nobody closes the stream
 * - `flushing`: somebody does, and its last data waits in the stream
 * - `held`: the connection has all data, and FIN waits until it may follow
 * - `sent`: FIN has left
 * - `lost`: the stream ended before FIN could leave
 */
type FinState = 'open' | 'flushing' | 'held' | 'sent' | 'lost'

/**
 * A stream of yamux, and how it is closed. Of the base classes it overrides
 *
 * - `close`: all callers share one close, which waits for the answer to a proposal. The base class resolves the second at once
 * - `abort`, `onRemoteReset`, `onTransportClosed`: without the peer's FIN the end of a connection is an error
 * - `onRemoteCloseWrite`, `addEventListener`: the peer's FIN waits for somebody who listens, see {@link KeptFin}
 */
export class YamuxStream extends ReceivingStream<YamuxStream> {
  /** Until the handler has answered */
  #proposal?: Proposal
  #fin: FinState = 'open'

  /** Whether its connection has closed it before anybody has answered */
  #isGivenUp = false

  /** What `close` settles with, and what resolves when FIN has left or never will. They exist once it was called */
  #closed?: PromiseWithResolvers<void>
  #finLeft?: PromiseWithResolvers<void>

  /** The end of the peer. Undefined until it has closed its end, and in the constructor of the base class */
  private keptFin?: KeptFin

  /** Listeners of 'close' that are not the application's: that of the base class, and the muxer's */
  readonly #closeListeners = this.listenerCount('close') + 1

  /** Whether the stream was closed at this end a turn ago: its closer may listen by now */
  #isSettled = false

  // --- what the muxer calls

  /** Whether the peer has answered it. Kept by the muxer */
  isAnswered = false

  get proposal (): Proposal | undefined {
    return this.#proposal
  }

  /** Whether all data was sent, and FIN waits for the peer's answer */
  get isFinHeld (): boolean {
    return this.#fin === 'held'
  }

  /** Whether the peer has opened the stream and agreed on a protocol, and its handler has neither sent nor closed anything */
  get isUnanswered (): boolean {
    return this.direction === 'inbound' && this.protocol !== '' && this.#closed == null && !this.hasSpoken
  }

  /** Propose its protocol, which tells libp2p that there is nothing to negotiate */
  propose (proposal: Proposal): void {
    this.#proposal = proposal
    this.send(proposal.bytes)
    this.protocol = proposal.protocol
  }

  /** Whether the peer may send on the stream */
  get isReceiving (): boolean {
    return this.remoteWriteStatus === 'writable' && this.keptFin == null
  }

  /** A frame of the peer. Its data is skipped if the stream receives none */
  onFrame ({ flags, length, data }: Frame): void {
    if ((flags & Flag.fin) !== 0) {
      // this data is the last, so nothing is granted for it
      this.endWindow()
    }

    if (data != null) {
      this.#onFrameData(data)
    } else {
      this.onGrant(length)
    }

    if ((flags & Flag.fin) !== 0) {
      this.onRemoteCloseWrite()
    }

    if ((flags & Flag.rst) !== 0) {
      this.onRemoteReset()
    }
  }

  #onFrameData (data: Uint8ArrayList): void {
    const rest = this.#proposal == null ? data : this.#proposal.receive(data)

    if (rest == null) {
      this.onTaken()
      return
    }

    this.onData(rest)

    // the handler has answered, so nothing of the proposal is open. It would take half a kilobyte
    this.#proposal?.allowFin()
    this.#proposal = undefined
  }

  // --- closing

  /**
   * Sends what waits, and FIN behind it. A signal ends the wait of its caller, not the close.
   *
   * @throws {Error} what ended the stream before FIN could leave
   */
  close (options?: AbortOptions): Promise<void> {
    if (this.failure != null) {
      return handled(Promise.reject(this.failure))
    }

    if (this.#closed == null) {
      if (this.writeStatus !== 'writable') {
        this.#settleSoon()

        return Promise.resolve()
      }

      this.#closed = Promise.withResolvers()
      this.#finLeft = Promise.withResolvers()
      this.#closed.promise.catch(() => {})
      this.#fin = 'flushing'
      this.writeStatus = 'closing'
      this.#closeNext()
    }

    return handled(raceSignal(this.#closed.promise, options?.signal))
  }

  /**
   * Closes the stream with its connection, and waits until that has left or never will. What the peer says of a proposal may come
   * later. A question that nobody has answered is reset: FIN would be an answer without content.
   */
  async closeWrite (): Promise<void> {
    this.#isGivenUp ||= this.isUnanswered
    void this.close()
    await this.#finLeft?.promise
  }

  async sendCloseWrite (): Promise<void> {
    this.owner.sending.update(this.streamId, this.openingFlag() | (this.#isGivenUp ? Flag.rst : Flag.fin), 0)
  }

  sendReset (): void {
    if (this.owner.isOpen()) {
      this.owner.sending.update(this.streamId, this.openingFlag() | Flag.rst, 0)
    }
  }

  protected onSendProgress (): void {
    this.#closeNext()
    this.keptFin?.look()
  }

  /** Goes on with a close as far as it can */
  #closeNext (): void {
    if (this.#fin === 'flushing' && !this.sendingData && this.writeBuffer.byteLength === 0 && !this.writableNeedsDrain) {
      this.#fin = 'held'
    }

    if (this.#fin !== 'held') {
      return
    }

    if (this.#proposal != null && !this.#proposal.mayFin) {
      void this.#proposal.waitForHandler()
      return
    }

    this.#fin = 'sent'
    void this.sendCloseWrite()
    this.#finLeft?.resolve()
    this.owner.onFinLeft(this)

    // `close` has not returned yet
    queueMicrotask(() => { this.#onClosed() })
  }

  /** Our FIN has left */
  #onClosed (): void {
    if (this.#isGivenUp) {
      this.#closed?.reject(new ConnectionClosedError('The connection closed before the stream was answered'))
    } else if (this.#proposal?.isAwaiting !== true) {
      this.#closed?.resolve()
    }

    if (this.status !== 'open' && this.status !== 'closing') {
      return
    }

    this.writeStatus = 'closed'

    if (this.remoteWriteStatus === 'closed') {
      this.onTransportClosed()
    }

    this.#settleSoon()
  }

  #settleSoon (): void {
    setImmediate(() => {
      this.#isSettled = true
      this.keptFin?.look()
    })
  }

  /** FIN may leave, or waits for less, as the proposal says */
  onFinChange (): void {
    this.#closeNext()

    if (this.#fin === 'sent' && this.#proposal?.isAwaiting === false) {
      this.#closed?.resolve()
    }
  }

  abort (err: Error): void {
    if (this.status === 'open' || this.status === 'closing') {
      this.#end('aborted', err)
      super.abort(err)
    }
  }

  onRemoteReset (): void {
    if (this.status === 'open' || this.status === 'closing') {
      const error = new StreamResetError()

      this.#end('unanswered', error)
      this.#onReset(error)
    }
  }

  /** As the base class, with an error that `close` rejects with, too */
  #onReset (error: Error): void {
    this.status = 'reset'
    this.writeStatus = 'closed'
    this.remoteWriteStatus = 'closed'
    this.remoteReadStatus = 'closed'
    this.timeline.close = Date.now()

    if (this.readBuffer.byteLength === 0) {
      this.readStatus = 'closed'
      this.maybeDispatchEnd()
    }

    this.dispatchEvent(new StreamResetEvent(error))
  }

  /** The connection has ended, with an error or without. What is missing of either end is an error in any case */
  onConnectionEnd (err?: Error): void {
    const isAllSent = this.#fin !== 'flushing' && !this.sendingData && this.writeBuffer.byteLength === 0

    if (!this.isReceiving && isAllSent) {
      this.onTransportClosed()
    } else {
      this.onTransportClosed(withCause(new ConnectionClosedError('The connection ended before the stream'), err))
    }
  }

  /** The connection has ended, or both ends of the stream have */
  onTransportClosed (err?: Error): void {
    if (this.status !== 'open' && this.status !== 'closing') {
      return
    }

    if (err != null) {
      this.#end('unanswered', err)
      super.abort(err)
    } else if (this.keptFin?.onTransportClosed() === true) {
      const error = new ConnectionClosedError()

      // what the peer has sent waits for a reader, and is no matter of the connection any more
      this.#endFin()
      this.writeStatus = 'closed'
      this.endSending(error)
      this.endReceiving(error)
    } else if (this.status === 'open' || this.status === 'closing') {
      this.#endFin()
      this.#end('unanswered', new ConnectionClosedError())
      super.onTransportClosed()
    }
  }

  /** The peer has closed its end, and nothing of it is missing */
  #endFin (): void {
    if (this.#fin === 'held') {
      // it has all data, and closed the connection before our FIN
      this.#fin = 'lost'
      this.writeStatus = 'closed'
      this.#finLeft?.resolve()
      this.#closed?.resolve()
      this.#settleSoon()
    }
  }

  /** End the stream for a failed proposal. Each later use of it reports this error */
  fail (error: Error): void {
    this.failure = error
    this.abort(error)
  }

  /** Nothing is sent or received any more */
  #end (outcome: 'aborted' | 'unanswered', error: Error): void {
    this.endSending(error)
    this.endReceiving(error)

    if (this.#fin !== 'sent' && this.#fin !== 'lost') {
      this.#fin = 'lost'
      this.#finLeft?.resolve()
    }

    // it was resolved, if all was well until now
    this.#closed?.reject(error)

    if (this.#proposal?.isAwaiting === true) {
      if (outcome !== 'aborted') {
        this.failure = error
      }

      this.#proposal.onEnd(outcome)
    }

    this.owner.onEnd(this)
  }

  // --- the peer's end

  onRemoteCloseWrite (): void {
    if (this.remoteWriteStatus === 'closed' || this.keptFin != null) {
      return
    }

    this.#proposal?.onFin()

    if (this.status !== 'open' && this.status !== 'closing') {
      return
    }

    this.endWindow()
    this.keptFin = new KeptFin({
      isAgreed: () => this.protocol !== '',
      mayStillAgree: () => this.status === 'open' && this.writableNeedsDrain,
      isReading: () => this.#isReading,
      isSettled: () => this.#isSettled,
      isEndHeard: () => this.listenerCount('close') > this.#closeListeners,
      tell: hasTransportClosed => {
        super.onRemoteCloseWrite()

        if (hasTransportClosed) {
          this.onTransportClosed()
        }
      }
    })
    this.keptFin.look()
  }

  get #isReading (): boolean {
    return this.listenerCount('message') + this.listenerCount('remoteCloseWrite') + this.listenerCount('end') > 0
  }

  addEventListener<K extends keyof MessageStreamEvents>(type: K, listener: EventHandler<MessageStreamEvents[K]> | null, options?: boolean | AddEventListenerOptions): void
  addEventListener (type: string, listener: EventHandler<Event>, options?: boolean | AddEventListenerOptions): void
  addEventListener (...args: any[]): void {
    super.addEventListener(...args as [any, any, any])

    // the base class delivers the data that waits in a microtask
    if (this.keptFin?.isKept === true) {
      queueMicrotask(() => { this.keptFin?.look() })
    }
  }
}

/**
 * Keeps an unhandled rejection of the promise from ending the process. With libp2p's own
 * negotiation it would not reject, so applications may ignore it.
 */
function handled <T> (promise: Promise<T>): Promise<T> {
  promise.catch(() => {})

  return promise
}
