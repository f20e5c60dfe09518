import { ConnectionClosedError, StreamBufferError, StreamMessageEvent, StreamResetError, StreamResetEvent, StreamStateError } from '@libp2p/interface'
import { AbstractStream, StreamClosedError } from '@libp2p/utils'
import { raceSignal } from 'race-signal'
import { Uint8ArrayList } from 'uint8arraylist'
import { withCause } from '../errors.ts'
import { setImmediate } from '../event-loop/immediate.ts'
import { areTooMany } from './chunks.ts'
import { Flag } from './frames.ts'
import { KeptFin } from './kept-fin.ts'
import { ReadLoop } from './read-loop.ts'
import type { Frame } from './decoder.ts'
import type { Data } from './read-loop.ts'
import type { ReceiveWindow } from './receive-window.ts'
import type { Receiving } from './receiving.ts'
import type { Sending } from './sending.ts'
import type { Sender } from './turns.ts'
import type { Proposal } from '../optimistic/proposal.ts'
import type { AbortOptions, EventHandler, MessageStreamEvents } from '@libp2p/interface'
import type { AbstractStreamInit, SendResult } from '@libp2p/utils'

/** What all streams of a muxer share. One object: a closure for each stream would take memory */
export interface StreamOwner {
  readonly sending: Sending
  readonly receiving: Receiving

  /** Whether the connection still takes frames */
  isOpen(): boolean

  /** The FIN of the stream has left */
  onFinLeft(stream: YamuxStream): void

  /** The stream has ended, and sends and receives nothing any more */
  onEnd(stream: YamuxStream): void
}

export interface YamuxStreamInit extends AbstractStreamInit {
  streamId: number
  owner: StreamOwner

  /** How much this end may send at once, in bytes */
  sendWindow: number
}

/**
 * - `new`: the peer has not been told of the stream, or that it was accepted
 * - `open`: it has
 */
type OpeningState = 'new' | 'open'

/**
 * - `open`: nobody closes the stream
 * - `flushing`: somebody does, and its last data waits in the stream
 * - `held`: the connection has all data, and FIN waits until it may follow
 * - `sent`: FIN has left
 * - `lost`: the stream ended before FIN could leave
 */
type FinState = 'open' | 'flushing' | 'held' | 'sent' | 'lost'

/**
 * A stream of yamux. Of the base class it overrides
 *
 * - `send`, `processSendQueue`, `onDrain`: a stream sends when it is its turn, and 'drain' comes when nothing waits
 * - `close`: all callers share one close, which waits for the answer to a proposal. The base class resolves the second at once
 * - `onData`, `dispatchReadBuffer`, the iterator: what is taken lets the peer send more
 * - `abort`, `onRemoteReset`, `onTransportClosed`: without the peer's FIN the end of a connection is an error
 * - `onRemoteCloseWrite`, `addEventListener`: the peer's FIN waits for somebody who listens, see {@link KeptFin}
 */
export class YamuxStream extends AbstractStream implements Sender {
  readonly streamId: number
  readonly #owner: StreamOwner

  // see Sender
  served = 0
  allowance = 0
  hasBacklog = false

  #opening: OpeningState = 'new'

  /** How much this end may send, in bytes */
  #sendWindow: number

  /** Whether 'drain' is to come when nothing waits any more */
  #isDrainDue = false
  #drained?: PromiseWithResolvers<void>

  /** What the peer may send. Exists once it has sent something, until it sends no more */
  #window?: ReceiveWindow

  /** What was unread when the muxer was told last, in bytes */
  #unread = 0

  /** In how many the read buffer holds it */
  #chunks = 0

  #loop?: ReadLoop

  /** What a loop has left that ended early, for the next one */
  #rest: Data[] = []

  #proposal?: Proposal
  #fin: FinState = 'open'

  /** What `close` settles with, and what resolves when FIN has left or never will. They exist once it was called */
  #closed?: PromiseWithResolvers<void>
  #finLeft?: PromiseWithResolvers<void>

  /** The end of the peer. Undefined until it has closed its end, and in the constructor of the base class */
  private keptFin?: KeptFin

  /** Why the stream failed */
  #failure?: Error

  /** What a loop that begins after the end is told */
  #endError?: Error

  /** Listeners of 'close' that are not the application's: that of the base class, and the muxer's */
  readonly #closeListeners = this.listenerCount('close') + 1

  /** Whether the stream was closed at this end a turn ago: its closer may listen by now */
  #isSettled = false

  constructor (init: YamuxStreamInit) {
    super(init)

    this.streamId = init.streamId
    this.#owner = init.owner
    this.#sendWindow = init.sendWindow
  }

  // --- what the muxer calls

  /** Whether the peer has answered it. Kept by the muxer */
  isAnswered = false

  /** What nobody has read, in bytes */
  get unread (): number {
    return this.readBuffer.byteLength + (this.#loop?.unread ?? 0)
  }

  /** Whether a reader has taken all that came until now */
  get isRead (): boolean {
    return this.readStatus !== 'paused' && this.readBuffer.byteLength === 0
  }

  /** The same, and it has asked for more if it is a loop. A handler of 'message' has had no turn yet */
  get keepsUp (): boolean {
    return this.isRead && this.#loop?.isWaiting !== false
  }

  /** Whether the peer may be granted more */
  get mayGrant (): boolean {
    return this.readStatus !== 'paused' && this.#loop?.isBehind !== true
  }

  get proposal (): Proposal | undefined {
    return this.#proposal
  }

  /** Whether all data was sent, and FIN waits for the peer's answer */
  get isFinHeld (): boolean {
    return this.#fin === 'held'
  }

  /** Propose its protocol, which tells libp2p that there is nothing to negotiate */
  propose (proposal: Proposal): void {
    this.#proposal = proposal
    this.send(proposal.bytes)
    this.protocol = proposal.protocol
  }

  /** Tell the peer of the stream, or that it was accepted, unless some other frame has */
  open (): void {
    if (this.#opening === 'new' && this.status === 'open') {
      this.#owner.sending.update(this.streamId, this.#openingFlag(), 0)
    }
  }

  /** Whether the peer may send on the stream */
  get isReceiving (): boolean {
    return this.remoteWriteStatus === 'writable' && this.keptFin == null
  }

  /** What the peer may send. Only while it may */
  get receiveWindow (): ReceiveWindow {
    this.#window ??= this.#owner.receiving.openWindow(this)

    return this.#window
  }

  /** A frame of the peer. Its data is skipped if the stream receives none */
  onFrame ({ flags, length, data }: Frame): void {
    if ((flags & Flag.fin) !== 0) {
      // this data is the last, so nothing is granted for it
      this.#endWindow()
    }

    if (data != null) {
      this.#onFrameData(data)
    } else {
      this.#onGrant(length)
    }

    if ((flags & Flag.fin) !== 0) {
      this.onRemoteCloseWrite()
    }

    if ((flags & Flag.rst) !== 0) {
      this.onRemoteReset()
    }
  }

  // --- sending

  send (data: Uint8Array | Uint8ArrayList): boolean {
    this.#assertNotFailed()

    if (this.writeStatus !== 'writable') {
      throw new StreamStateError(`Cannot write to a stream that is ${this.writeStatus}`)
    }

    if (this.writableNeedsDrain || this.sendingData || this.writeBuffer.byteLength > 0) {
      this.writeBuffer.append(data)

      return this.processSendQueue()
    }

    const { sentBytes, canSendMore } = this.#transmit(data)

    if (sentBytes < data.byteLength) {
      this.writeBuffer.append(data instanceof Uint8Array ? data.subarray(sentBytes) : data.sublist(sentBytes))
    }

    return this.#afterSend(canSendMore)
  }

  /** Called by the base class. A stream hands its data to the muxer itself */
  sendData (data: Uint8ArrayList): SendResult {
    return this.#transmit(data)
  }

  protected processSendQueue (): boolean {
    if (this.writableNeedsDrain) {
      this.#checkWriteBuffer()

      return false
    }

    if (this.sendingData || this.writeBuffer.byteLength === 0) {
      return true
    }

    const { sentBytes, canSendMore } = this.#transmit(this.writeBuffer)

    this.writeBuffer.consume(sentBytes)

    return this.#afterSend(canSendMore)
  }

  takeTurn (): void {
    if (this.writeStatus === 'closed') {
      return
    }

    this.writableNeedsDrain = false
    this.processSendQueue()

    if (!this.writableNeedsDrain) {
      this.#onDrained()
    }
  }

  /**
   * Waits until all that was sent has left the stream. The base class resolves at once from its second use on.
   *
   * @throws {Error} what ended the stream
   */
  async onDrain (options?: AbortOptions): Promise<void> {
    if (!this.writableNeedsDrain) {
      return
    }

    this.#assertNotFailed()

    if (this.status !== 'open' && this.status !== 'closing') {
      throw new StreamClosedError()
    }

    this.#drained ??= Promise.withResolvers()

    return raceSignal(this.#drained.promise, options?.signal)
  }

  /** Called by the base class of the muxer, whose streams all send at once then */
  onMuxerNeedsDrain (): void {}

  onMuxerDrain (): void {}

  /** Hands as much to the muxer as may be sent now */
  #transmit (data: Uint8Array | Uint8ArrayList): SendResult {
    const { turns } = this.#owner.sending
    const wasFull = turns.isFull
    const { byteLength } = data
    let sentBytes = 0

    this.sendingData = true

    try {
      while (sentBytes < byteLength && this.#sendWindow > 0) {
        const room = Math.min(this.#sendWindow, this.maxMessageSize ?? Infinity, turns.room(this, byteLength - sentBytes))

        if (room === 0) {
          break
        }

        const part = room === byteLength ? data : cut(data, sentBytes, sentBytes + room)

        this.#sendWindow -= room
        sentBytes += room
        this.#owner.sending.data(this.streamId, this.#openingFlag(), part)
        turns.onSent(this, room)

        // one that had nothing to send when the connection became full need not stop
        if (turns.isFull && !wasFull) {
          break
        }
      }

      this.#owner.sending.flushLarge()
    } finally {
      this.sendingData = false
    }

    this.hasBacklog = sentBytes < byteLength

    return { sentBytes, canSendMore: !this.hasBacklog && !turns.isFull }
  }

  #afterSend (canSendMore: boolean): boolean {
    // the connection may have ended
    if (this.writeStatus === 'closed') {
      return false
    }

    if (!canSendMore) {
      this.writableNeedsDrain = true
      this.#isDrainDue = true
      this.#checkWriteBuffer()

      // a window update wakes one that has used up its window
      if (this.writeBuffer.byteLength === 0 || this.#sendWindow > 0) {
        this.#owner.sending.turns.wait(this)
      }
    }

    if (this.writeBuffer.byteLength === 0) {
      if (this.listenerCount('idle') > 0) {
        this.safeDispatchEvent('idle')
      }

      this.#closeNext()
    }

    return canSendMore
  }

  #onDrained (): void {
    if (this.#isDrainDue) {
      this.#isDrainDue = false

      // a listener may wait again
      this.#drained?.resolve()
      this.#drained = undefined
      this.safeDispatchEvent('drain')
    }

    this.#closeNext()
    this.keptFin?.look()
  }

  #onGrant (bytes: number): void {
    this.#sendWindow += bytes

    if (this.writableNeedsDrain && this.#sendWindow > 0) {
      this.#owner.sending.turns.wait(this)
    }
  }

  #checkWriteBuffer (): void {
    if (this.writeBuffer.byteLength > (this.maxWriteBufferLength ?? Infinity)) {
      this.abort(new StreamBufferError(`${this.writeBuffer.byteLength} bytes wait to be sent, and ${this.maxWriteBufferLength} may`))
    }
  }

  #openingFlag (): number {
    if (this.#opening === 'open') {
      return 0
    }

    this.#opening = 'open'

    return this.direction === 'outbound' ? Flag.syn : Flag.ack
  }

  // --- closing

  /**
   * Sends what waits, and FIN behind it. A signal ends the wait of its caller, not the close.
   *
   * @throws {Error} what ended the stream before FIN could leave
   */
  close (options?: AbortOptions): Promise<void> {
    if (this.#failure != null) {
      return handled(Promise.reject(this.#failure))
    }

    if (this.#closed == null) {
      if (this.writeStatus !== 'writable') {
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

  /** Closes the stream, and waits until FIN has left or never will. What the peer says of a proposal may come later */
  async closeWrite (): Promise<void> {
    void this.close()
    await this.#finLeft?.promise
  }

  async sendCloseWrite (): Promise<void> {
    this.#owner.sending.update(this.streamId, this.#openingFlag() | Flag.fin, 0)
  }

  async sendCloseRead (options?: AbortOptions): Promise<void> {
    options?.signal?.throwIfAborted()
    this.#account()
  }

  sendReset (): void {
    if (this.#owner.isOpen()) {
      this.#owner.sending.update(this.streamId, this.#openingFlag() | Flag.rst, 0)
    }
  }

  /** Goes on with a close as far as it can */
  #closeNext (): void {
    if (this.#fin === 'flushing' && this.writeBuffer.byteLength === 0 && !this.writableNeedsDrain) {
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
    this.#owner.onFinLeft(this)

    // `close` has not returned yet
    queueMicrotask(() => { this.#onClosed() })
  }

  /** Our FIN has left */
  #onClosed (): void {
    if (this.#proposal?.isAwaiting !== true) {
      this.#closed?.resolve()
    }

    if (this.status !== 'open' && this.status !== 'closing') {
      return
    }

    this.writeStatus = 'closed'

    if (this.remoteWriteStatus === 'closed') {
      this.onTransportClosed()
    }

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
    const isAllSent = this.#fin !== 'flushing' && this.writeBuffer.byteLength === 0

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
      this.#endFin()
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
    }
  }

  /** End the stream for a failed proposal. Each later use of it reports this error */
  fail (error: Error): void {
    this.#failure = error
    this.abort(error)
  }

  /** Nothing is sent or received any more */
  #end (outcome: 'aborted' | 'unanswered', error: Error): void {
    this.#endError = error
    this.#owner.sending.turns.remove(this)
    this.#endWindow()
    this.#drained?.promise.catch(() => {})
    this.#drained?.reject(error)

    if (this.#fin !== 'sent' && this.#fin !== 'lost') {
      this.#fin = 'lost'
      this.#finLeft?.resolve()
    }

    // it was resolved, if all was well until now
    this.#closed?.reject(error)

    if (this.#proposal?.isAwaiting === true) {
      if (outcome !== 'aborted') {
        this.#failure = error
      }

      this.#proposal.onEnd(outcome)
    }

    this.#owner.receiving.onUnread(-this.#unread)
    this.#unread = 0
    this.#owner.onEnd(this)
  }

  /** The peer sends no more */
  #endWindow (): void {
    this.#window?.end()
    this.#window = undefined
  }

  #assertNotFailed (): void {
    if (this.#failure != null) {
      throw this.#failure
    }
  }

  // --- receiving

  onData (data: Uint8Array | Uint8ArrayList): void {
    // no window bounds how many a peer sends, and FIN may come in one
    if (data.byteLength === 0) {
      return
    }

    if (this.readStatus !== 'readable' || this.readBuffer.byteLength > 0 || this.listenerCount('message') === 0) {
      this.#chunks = this.readBuffer.byteLength === 0 ? 1 : this.#chunks + 1
      super.onData(data)
      this.#mergeChunks()
      this.#onTaken()
      return
    }

    if (this.#loop == null) {
      // an update for what is about to be read leaves with the answer
      this.#onTaken()
      this.dispatchEvent(new StreamMessageEvent(data))
    } else {
      this.dispatchEvent(new StreamMessageEvent(data))
      this.#onTaken()
    }
  }

  #mergeChunks (): void {
    const { byteLength } = this.readBuffer

    if (areTooMany(this.#chunks, byteLength)) {
      const bytes = this.readBuffer.slice()

      this.readBuffer.consume(byteLength)
      this.readBuffer.append(bytes)
      this.#chunks = 1
    }
  }

  protected dispatchReadBuffer (): void {
    super.dispatchReadBuffer()
    this.#onTaken()
  }

  sendPause (): void {}

  sendResume (): void {
    this.#onTaken()
  }

  async * [Symbol.asyncIterator] (): AsyncGenerator<Data> {
    this.#assertNotFailed()

    if (this.#rest.length === 0 && !this.#isReadable && this.#endError == null) {
      return
    }

    const rest = this.#rest
    this.#rest = []
    const loop = this.#loop = new ReadLoop({
      stream: this,
      rest,
      isOver: () => !this.#isReadable || (this.remoteWriteStatus !== 'writable' && this.readBuffer.byteLength === 0),
      failure: () => this.#failure ?? this.#readError,
      onChange: () => { this.#onTaken() }
    })

    try {
      for (;;) {
        const data = await loop.next()

        if (data == null) {
          return
        }

        yield data
      }
    } finally {
      this.#giveBack(loop)
    }
  }

  /** What a loop has left that breaks is for the next reader. If others listen they have had it */
  #giveBack (loop: ReadLoop): void {
    const rest = loop.stop()

    this.#loop = undefined

    if (rest.length > 0 && this.#isReadable && this.listenerCount('message') === 0) {
      this.readBuffer.prepend(new Uint8ArrayList(...rest))
    } else {
      this.#rest = rest
    }

    this.#onTaken()
  }

  /** What ended the stream without the peer's FIN, once all has been read */
  get #readError (): Error | undefined {
    return (this.status === 'aborted' || this.status === 'reset') && this.readBuffer.byteLength === 0 ? this.#endError : undefined
  }

  get #isReadable (): boolean {
    return this.readStatus === 'readable' || this.readStatus === 'paused'
  }

  #onFrameData (data: Uint8ArrayList): void {
    const rest = this.#proposal == null ? data : this.#proposal.receive(data)

    if (rest == null) {
      this.#onTaken()
      return
    }

    this.onData(rest)
    this.#proposal?.allowFin()
  }

  /** Something was read, or has come: tell the peer of what is free */
  #onTaken (): void {
    this.#account()

    const window = this.#window

    if (window != null && window.mayBeDue) {
      const bytes = this.#owner.receiving.grant(this, window)

      if (bytes > 0) {
        this.#owner.sending.update(this.streamId, this.#openingFlag(), bytes)
      }
    }
  }

  #account (): void {
    const { unread } = this

    if (unread !== this.#unread && this.#endError == null) {
      const change = unread - this.#unread

      this.#unread = unread
      this.#owner.receiving.onUnread(change)
    }
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

    this.#endWindow()
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

function cut (data: Uint8Array | Uint8ArrayList, start: number, end: number): Uint8Array | Uint8ArrayList {
  return data instanceof Uint8Array ? data.subarray(start, end) : data.sublist(start, end)
}

/**
 * Keeps an unhandled rejection of the promise from ending the process. With libp2p's own
 * negotiation it would not reject, so applications may ignore it.
 */
function handled <T> (promise: Promise<T>): Promise<T> {
  promise.catch(() => {})

  return promise
}
