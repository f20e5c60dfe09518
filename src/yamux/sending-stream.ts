import { InvalidParametersError, StreamBufferError, StreamStateError } from '@libp2p/interface'
import { AbstractStream, StreamClosedError } from '@libp2p/utils'
import { raceSignal } from 'race-signal'
import { isUint8ArrayList } from 'uint8arraylist'
import { COPY_BYTES, copyOf } from '../bytes/copy-run.ts'
import { Flag } from './frames.ts'
import type { Receiving } from './receiving.ts'
import type { Sending } from './sending.ts'
import type { Sender } from './turns.ts'
import type { AbortOptions } from '@libp2p/interface'
import type { AbstractStreamInit, SendResult } from '@libp2p/utils'
import type { Uint8ArrayList } from 'uint8arraylist'

/** What all streams of a muxer share. One object: a closure for each stream would take memory */
export interface StreamOwner<Stream> {
  readonly sending: Sending
  readonly receiving: Pick<Receiving, 'openWindow' | 'grant' | 'onUnread'>

  /** Whether the connection still takes frames */
  isOpen(): boolean

  /** The FIN of the stream has left */
  onFinLeft(stream: Stream): void

  /** The stream has ended, and sends and receives nothing any more */
  onEnd(stream: Stream): void
}

export interface YamuxStreamInit<Stream> extends AbstractStreamInit {
  streamId: number
  owner: StreamOwner<Stream>

  /** How much this end may send at once, in bytes */
  sendWindow: number
}

/**
 * - `new`: the peer has not been told of the stream, or that it was accepted
 * - `open`: it has
 */
type OpeningState = 'new' | 'open'

/**
 * How a stream sends: when it is its turn, as much as the peer lets it. Of the base class it overrides `send`,
 * `processSendQueue` and `onDrain`. 'drain' comes when nothing waits.
 */
export abstract class SendingStream<Stream> extends AbstractStream implements Sender {
  readonly streamId: number
  protected readonly owner: StreamOwner<Stream>

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

  /** Whether something was sent since the protocol is known */
  protected hasSpoken = false

  /** Why the stream failed */
  protected failure?: Error

  constructor (init: YamuxStreamInit<Stream>) {
    super(init)

    this.streamId = init.streamId
    this.owner = init.owner
    this.#sendWindow = init.sendWindow
  }

  /** What waited has left, or part of it */
  protected abstract onSendProgress (): void

  /** Tell the peer of the stream, or that it was accepted, unless some other frame has */
  open (): void {
    if (this.#opening === 'new' && this.status === 'open') {
      this.owner.sending.update(this.streamId, this.openingFlag(), 0)
    }
  }

  send (data: Uint8Array | Uint8ArrayList): boolean {
    if (!(data instanceof Uint8Array) && !isUint8ArrayList(data)) {
      throw new InvalidParametersError('A stream sends a Uint8Array or a Uint8ArrayList')
    }

    this.assertNotFailed()

    if (this.writeStatus !== 'writable') {
      throw new StreamStateError(`Cannot write to a stream that is ${this.writeStatus}`)
    }

    this.hasSpoken ||= this.protocol !== ''

    if (this.writableNeedsDrain || this.sendingData || this.writeBuffer.byteLength > 0) {
      this.writeBuffer.append(toKeep(data))

      return this.processSendQueue()
    }

    const { sentBytes, canSendMore } = this.#transmit(data)

    if (sentBytes < data.byteLength) {
      // a peer that answers within the call may have had somebody send more meanwhile
      this.writeBuffer.prepend(toKeep(cut(data, sentBytes, data.byteLength)))
    }

    return this.#afterSend(canSendMore) && this.processSendQueue()
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

    if (this.sendingData) {
      return true
    }

    let canSendMore = true

    while (canSendMore && this.writeBuffer.byteLength > 0) {
      const result = this.#transmit(this.writeBuffer)

      // the stream may have been aborted meanwhile
      this.writeBuffer.consume(Math.min(result.sentBytes, this.writeBuffer.byteLength))
      canSendMore = this.#afterSend(result.canSendMore)
    }

    return canSendMore
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

    this.assertNotFailed()

    if (this.writeStatus === 'closed') {
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
    const { turns } = this.owner.sending
    const wasFull = turns.isFull
    const { byteLength } = data
    let sentBytes = 0

    this.sendingData = true

    try {
      while (sentBytes < byteLength && this.#sendWindow > 0 && this.writeStatus !== 'closed') {
        const room = Math.min(this.#sendWindow, this.maxMessageSize ?? Infinity, turns.room(this, byteLength - sentBytes))

        if (room === 0) {
          break
        }

        // the write buffer may grow while it is sent
        const part = room === byteLength && data !== this.writeBuffer ? data : cut(data, sentBytes, sentBytes + room)

        this.#sendWindow -= room
        sentBytes += room
        this.owner.sending.data(this.streamId, this.openingFlag(), part)
        turns.onSent(this, room)

        // one that had nothing to send when the connection became full need not stop
        if (turns.isFull && !wasFull) {
          break
        }
      }

      this.owner.sending.flushLarge()
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
        this.owner.sending.turns.wait(this)
      }
    }

    if (this.writeBuffer.byteLength === 0) {
      if (this.listenerCount('idle') > 0) {
        this.safeDispatchEvent('idle')
      }

      this.onSendProgress()
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

    this.onSendProgress()
  }

  protected onGrant (bytes: number): void {
    this.#sendWindow += bytes

    if (this.writableNeedsDrain && this.#sendWindow > 0) {
      this.owner.sending.turns.wait(this)
    }
  }

  #checkWriteBuffer (): void {
    if (this.writeBuffer.byteLength > (this.maxWriteBufferLength ?? Infinity)) {
      this.abort(new StreamBufferError(`${this.writeBuffer.byteLength} bytes wait to be sent, and ${this.maxWriteBufferLength} may`))
    }
  }

  protected openingFlag (): number {
    if (this.#opening === 'open') {
      return 0
    }

    this.#opening = 'open'

    return this.direction === 'outbound' ? Flag.syn : Flag.ack
  }

  /** Nothing is sent any more */
  protected endSending (error: Error): void {
    this.owner.sending.turns.remove(this)
    this.#drained?.promise.catch(() => {})
    this.#drained?.reject(error)
  }

  protected assertNotFailed (): void {
    if (this.failure != null) {
      throw this.failure
    }
  }
}

function cut (data: Uint8Array | Uint8ArrayList, start: number, end: number): Uint8Array | Uint8ArrayList {
  return data instanceof Uint8Array ? data.subarray(start, end) : data.sublist(start, end)
}

/** The owner of a small buffer may use it again */
function toKeep (data: Uint8Array | Uint8ArrayList): Uint8Array | Uint8ArrayList {
  return data.byteLength < COPY_BYTES ? copyOf(data) : data
}
