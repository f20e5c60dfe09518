import { StreamClosedError } from '@libp2p/utils'
import { raceSignal } from 'race-signal'
import type { SchedulableStream } from './schedulable-stream.ts'
import type { AbortOptions, StreamCloseEvent } from '@libp2p/interface'
import type { SendResult } from '@libp2p/utils'
import type { Uint8ArrayList } from 'uint8arraylist'

/** Shares a connection among the streams that have something to send */
export interface Pacer {
  /** Whether the connection is full */
  readonly isFull: boolean

  /**
   * How much of so many bytes this stream may hand to the muxer at a time. With 0 it is told when its turn comes. A
   * large frame would delay all that comes behind it.
   */
  room(stream: PacedStream, bytes: number): number

  onSent(stream: PacedStream, bytes: number): void

  /** The connection is full */
  onFull(): void

  /** The connection has drained. This stream may or may not have waited for that */
  onDrained(stream: PacedStream): void

  /** The stream sends no more */
  onGone(stream: PacedStream): void
}

/**
 * A stream that sends when it is its turn, and that is drained when it has sent all that it has.
 *
 * The base class emits 'drain' whenever the muxer may take more, although data of the stream may
 * still wait. An application that then sends a message for each 'drain' fills the memory. Here
 * the event comes, and `onDrain()` resolves, when nothing waits.
 */
export class PacedStream {
  readonly stream: SchedulableStream
  readonly #pacer: Pacer
  readonly #sendData: SchedulableStream['sendData']
  readonly #dispatchEvent: SchedulableStream['dispatchEvent']

  /** Whether listeners of 'drain' wait for data to leave that the stream still has */
  #isDrainDue = false
  #drained?: PromiseWithResolvers<void>

  /** How much it has sent in comparison with the others, in bytes */
  served = 0

  /** How much more it may send before the others have their turns, in bytes. Less than 0 comes off the next turn */
  allowance = 0

  /** Whether it had more to send when it was stopped */
  hasBacklog = false

  /** Whether that was the muxer, which goes on when the peer lets the stream send more */
  #isOutOfWindow = false

  constructor (stream: SchedulableStream, pacer: Pacer) {
    this.stream = stream
    this.#pacer = pacer
    this.#sendData = stream.sendData
    this.#dispatchEvent = stream.dispatchEvent

    stream.sendData = data => this.sendData(data)
    stream.dispatchEvent = event => this.dispatchEvent(event)
    stream.onDrain = async options => this.onDrain(options)
    // a stream is told by `sendData` or by its turn, not with all others
    stream.onMuxerNeedsDrain = () => { pacer.onFull() }
    stream.onMuxerDrain = () => { pacer.onDrained(this) }
    stream.addEventListener('idle', this.#onIdle)
    // a peer may end a stream twice
    stream.addEventListener('close', this.#onClose, { once: true })
  }

  /** Whether the stream takes no more until it is told that the connection has drained */
  get isBlocked (): boolean {
    return this.stream.writableNeedsDrain && !this.#isOutOfWindow
  }

  /** Let the stream send */
  takeTurn (): void {
    this.stream.dispatchEvent(new Event('drain'))
  }

  sendData (data: Uint8ArrayList): SendResult {
    const wasFull = this.#pacer.isFull
    let sentBytes = 0

    this.#isOutOfWindow = false

    for (;;) {
      const room = this.#pacer.room(this, data.byteLength)

      if (room === 0) {
        this.hasBacklog = true

        return { sentBytes, canSendMore: false }
      }

      const part = data.byteLength <= room ? data : data.sublist(0, room)
      const { byteLength } = part
      const result = this.#sendData.call(this.stream, part)

      sentBytes += result.sentBytes
      this.#pacer.onSent(this, result.sentBytes)
      this.#isOutOfWindow = result.sentBytes < byteLength

      if (part === data && !this.#isOutOfWindow) {
        // the muxer may have the stream hand it less than it has
        this.hasBacklog = !result.canSendMore && this.stream.writeBufferLength > 0

        return { sentBytes, canSendMore: result.canSendMore }
      }

      // one that had nothing to send when the connection became full need not stop
      if (this.#isOutOfWindow || (!result.canSendMore && !wasFull)) {
        this.hasBacklog = true

        return { sentBytes, canSendMore: false }
      }

      data.consume(byteLength)
    }
  }

  /**
   * As the base class's, which resolves at once from its second use on.
   *
   * @throws {Error} what ended the stream
   */
  async onDrain (options?: AbortOptions): Promise<void> {
    const { stream } = this

    if (!stream.writableNeedsDrain && !this.#isDrainDue) {
      return
    }

    if (stream.status !== 'open' && stream.status !== 'closing') {
      throw new StreamClosedError()
    }

    this.#drained ??= Promise.withResolvers()

    return raceSignal(this.#drained.promise, options?.signal)
  }

  /** Also of 'drain', which the application may have listened for since before this stream was adopted */
  dispatchEvent (event: Event): boolean {
    const { stream } = this

    if (event.type !== 'drain') {
      return this.#dispatchEvent.call(stream, event)
    }

    this.#isDrainDue = stream.writeBufferLength > 0

    if (this.#isDrainDue) {
      this.#sendRest()

      return true
    }

    // a listener may wait again
    this.#drained?.resolve()
    this.#drained = undefined

    return this.#dispatchEvent.call(stream, event)
  }

  /** What the base class does at 'drain' */
  #sendRest (): void {
    const { stream } = this

    if (!stream.writableNeedsDrain) {
      return
    }

    stream.writableNeedsDrain = false
    queueMicrotask(() => {
      try {
        stream.processSendQueue()
      } catch (err) {
        // it has aborted the stream
        stream.log.error('could not send what waited - %e', err)
      }
    })
  }

  /** The base class forgets what is sent while it emits this event */
  readonly #onIdle = (): void => {
    if (this.#isDrainDue) {
      queueMicrotask(() => {
        // if it needs to drain, its turn will come
        if (this.#isDrainDue && !this.stream.writableNeedsDrain && this.stream.writeBufferLength === 0) {
          this.takeTurn()
        }
      })
    }
  }

  readonly #onClose = ({ error }: StreamCloseEvent): void => {
    this.#drained?.promise.catch(() => {})
    this.#drained?.reject(error ?? new StreamClosedError())
    this.#pacer.onGone(this)
  }
}
