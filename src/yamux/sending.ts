import { StreamBufferError } from '@libp2p/interface'
import { FrameType } from './frames.ts'
import { Line } from './line.ts'
import { Outbox } from './outbox.ts'
import { Turns } from './turns.ts'
import type { MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/** What is sent before the line is measured, in bytes: a connection that sends little costs nothing */
const MUCH = 64 * 1024

/** What may wait in a connection that takes no more, in bytes: answers to pings and refusals, which a peer asks for and does not read */
const MAX_UNDRAINED = 1024 * 1024

export interface SendingInit {
  connection: MessageStream

  /** Send no more ahead than fits the line */
  hasWindow: boolean

  /** Whether the connection still takes frames */
  isOpen(): boolean

  /** Sends a ping by `ping()`, unless one is on its way */
  startPing(): void

  /** What was measured until now, in ms */
  roundTrip(): number | undefined

  /** The connection has thrown, or the peer reads nothing */
  onFailed(err: Error): void
}

/**
 * The way of frames from the streams of a muxer to its connection: they are gathered in an {@link Outbox}. The
 * {@link Turns} of the streams end when the connection takes no more, or the {@link Line} has enough.
 */
export class Sending {
  readonly turns: Turns
  readonly #init: SendingInit
  readonly #outbox: Outbox

  /** Whether the connection takes no more, and what was sent since then, in bytes */
  #isFull = false
  #undrained = 0

  /** What was sent, in bytes */
  #sent = 0

  /** Exists once much was sent */
  #line?: Line

  constructor (init: SendingInit) {
    const frameBytes = (): number | undefined => this.#line?.frameBytes

    this.#init = init
    this.turns = new Turns(frameBytes)
    this.#outbox = new Outbox({ send: bytes => { this.#send(bytes) }, frameBytes })
    init.connection.addEventListener('drain', this.#onDrain)
  }

  data (streamId: number, flags: number, data: Uint8Array | Uint8ArrayList): void {
    this.#outbox.add(FrameType.data, flags, streamId, data.byteLength, data)
  }

  /** Nobody waits for an update that has no flags */
  update (streamId: number, flags: number, bytes: number): void {
    this.#outbox.add(FrameType.windowUpdate, flags, streamId, bytes, undefined, flags !== 0)
  }

  ping (flags: number, number: number): void {
    this.#outbox.add(FrameType.ping, flags, 0, number)
  }

  /** A ping of ours was added. It measures what was sent until now */
  measure (): void {
    if (this.#line != null) {
      this.#outbox.sendAll()
      this.#line.onPing(performance.now())
    }
  }

  /** That ping was answered */
  onPong (now: number): void {
    this.#line?.onPong(now)
  }

  /** The peer lets streams send more, so it has read something */
  onRead (): void {
    this.#line?.onRead()
  }

  /** Leaves at once: the end of the connection may be next */
  goAway (reason: number): void {
    this.#outbox.add(FrameType.goAway, 0, 0, reason)
    this.#outbox.sendAll()
  }

  /** Send what its owner may change next */
  flushLarge (): void {
    this.#outbox.flushLarge()
  }

  /** A message of the peer was read */
  answer (): void {
    this.#outbox.answer()
  }

  end (): void {
    this.#outbox.clear()
    this.#line?.end()
    this.#init.connection.removeEventListener('drain', this.#onDrain)
  }

  #send (bytes: Uint8Array | Uint8ArrayList): void {
    if (!this.#init.isOpen()) {
      return
    }

    // the connection may take the bytes out of a list
    const { byteLength } = bytes

    try {
      this.#onSent(byteLength, this.#init.connection.send(bytes))
    } catch (err: any) {
      this.#init.onFailed(err)
    }
  }

  #onSent (bytes: number, canSendMore: boolean): void {
    this.#sent += bytes

    if (this.#isFull) {
      this.#undrained += bytes

      if (this.#undrained > MAX_UNDRAINED) {
        throw new StreamBufferError(`The peer reads nothing, and ${this.#undrained} bytes of answers wait`)
      }
    } else if (!canSendMore) {
      this.#isFull = true
      this.#undrained = 0
    }

    if (this.#line == null && this.#sent > MUCH && this.#init.hasWindow) {
      this.#line = new Line({ ping: () => { this.#init.startPing() }, onRoom: () => { this.#onRoom() } }, this.#init.roundTrip())
    }

    const isLineOpen = this.#line?.onSent(bytes) !== false

    if (!canSendMore || !isLineOpen) {
      this.turns.onFull()
    }
  }

  /** The line takes more */
  #onRoom (): void {
    if (!this.#isFull) {
      this.turns.onDrained()
    }
  }

  /** The connection takes more */
  readonly #onDrain = (): void => {
    this.#isFull = false

    if (this.#line?.onDrain() !== false) {
      this.turns.onDrained()
    }
  }
}
