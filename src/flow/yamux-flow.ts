import { hasMembers } from '../foreign/check.ts'
import { RoundTrip } from './round-trip.ts'
import { frameBytes } from './send-pace.ts'
import { YamuxCredit } from './yamux-credit.ts'
import { Flag, FrameScanner, FrameType, loneHeader } from './yamux-frames.ts'
import { YamuxSender } from './yamux-sender.ts'
import type { LimitedLine } from './connection-flow.ts'
import type { FrameHeader, FrameListener } from './yamux-frames.ts'
import type { MessageStream, StreamMessageEvent, StreamMuxer } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/** What is sent without a thought, in bytes */
const MUCH = 64 * 1024

export interface YamuxFlowInit {
  /** Let peers send what fits the path and the readers */
  credit: boolean

  /** Send no more than fits the path */
  sendWindow: boolean
}

const flow = Symbol('flow')

interface FlowingConnection extends MessageStream {
  [flow]: YamuxFlow
}

/** `ping` is not part of the interface, so it is looked for before it is used */
interface PingingMuxer extends StreamMuxer {
  ping?(): Promise<unknown>
}

/**
 * What passes between a muxer of yamux and its connection, in both directions: how much peers
 * may send, and how much is sent. Reads the wire format of yamux only.
 */
export class YamuxFlow implements FrameListener, LimitedLine {
  readonly muxer: PingingMuxer
  readonly #connection: MessageStream
  readonly #send: MessageStream['send']
  readonly #scanner = new FrameScanner(this)
  readonly #roundTrip = new RoundTrip()
  readonly #credit?: YamuxCredit

  /** Whether a sender is to be made when much was sent */
  #needsSender: boolean

  /** What the muxer does when the connection has drained. The sender has it wait while its window is full */
  #onMuxerDrain?: (event: Event) => void

  /** Exists once much was sent: a connection that sends little costs nothing */
  #sender?: YamuxSender
  #sentBytes = 0

  /** The ping that is on its way */
  #ping?: { number: number, at: number }

  constructor (connection: MessageStream, createMuxer: () => StreamMuxer, { credit, sendWindow }: YamuxFlowInit) {
    this.#connection = connection
    // not bound: that would take memory for each connection
    this.#send = connection.send

    ;(connection as FlowingConnection)[flow] = this
    connection.send = send
    // registered before the muxer listens, so that it is called first
    connection.addEventListener('message', this)

    // a listener of our own, before the muxer's, would take memory for each connection
    const { addEventListener } = connection

    connection.addEventListener = (type: any, listener: any, ...rest: any[]): void => {
      addEventListener.call(connection, type, listener, ...rest)

      if (type === 'drain' && typeof listener === 'function') {
        this.#onMuxerDrain = listener
      }
    }

    try {
      this.muxer = createMuxer()
    } finally {
      connection.addEventListener = addEventListener
    }

    this.#needsSender = sendWindow
    this.#credit = credit ? new YamuxCredit(connection, this, this.#roundTrip) : undefined
  }

  /** The most that a stream should send at a time, in bytes: what comes next on other streams has to wait for that */
  get frameBytes (): number {
    return this.#sender?.frameBytes ?? frameBytes()
  }

  /** Whether less is sent than the socket takes */
  get isLimiting (): boolean {
    return this.#sender?.isLimiting === true
  }

  onHeader (header: FrameHeader): void {
    const { type, flags, length } = header

    if (type === FrameType.ping && flags === Flag.ack && this.#ping?.number === length) {
      const now = performance.now()

      this.#roundTrip.add(now - this.#ping.at, now)
      this.#ping = undefined
      this.#sender?.onPong(now)
    }

    this.#credit?.onHeader(header)
  }

  onData (streamId: number, bytes: number): void {
    this.#credit?.onData(streamId, bytes)
  }

  /** The muxer sends a frame */
  onSend (frame: Uint8Array | Uint8ArrayList): boolean {
    const header = loneHeader(frame)

    if (header?.type === FrameType.windowUpdate && this.#credit != null) {
      return this.#credit.onWindowUpdate(frame, header)
    }

    if (header == null) {
      this.#credit?.onSend()
    }

    const canSendMore = this.write(frame)

    if (header?.type === FrameType.ping && header.flags === Flag.syn) {
      this.#ping = { number: header.length, at: performance.now() }
      this.#sender?.onPing(this.#ping.at)
    }

    return canSendMore
  }

  /**
   * Sends a frame.
   *
   * @returns whether more can be sent now
   */
  write (frame: Uint8Array | Uint8ArrayList): boolean {
    this.#sentBytes += frame.byteLength

    if (this.#needsSender && this.#sentBytes > MUCH) {
      this.#startSending()
    }

    return this.#sender == null ? this.#send.call(this.#connection, frame) : this.#sender.send(frame)
  }

  #startSending (): void {
    this.#needsSender = false

    if (hasMembers('pingingMuxer', this.muxer) && this.#onMuxerDrain != null) {
      this.#connection.removeEventListener('drain', this.#onMuxerDrain)
      this.#connection.addEventListener('drain', this)
      this.#sender = new YamuxSender(this.#connection, this.#send.bind(this.#connection), async () => this.muxer.ping?.(), this.#roundTrip.ms)
    }
  }

  /** Leave the connection to the muxer */
  end (): void {
    const connection = this.#connection

    connection.send = this.#send
    connection.removeEventListener('message', this)
    this.#credit?.end()

    if (this.#sender != null && this.#onMuxerDrain != null) {
      connection.removeEventListener('drain', this)
      connection.addEventListener('drain', this.#onMuxerDrain)
      this.#sender.end()
    }
  }

  /** The object listens, since a function would take memory for each connection */
  handleEvent (event: Event): void {
    if (event.type === 'message') {
      this.#onMessage(event as StreamMessageEvent)
    } else if (this.#sender?.onDrain() === true) {
      this.#onMuxerDrain?.(event)
    }
  }

  #onMessage (event: StreamMessageEvent): void {
    const { data } = event

    try {
      this.#credit?.onMessage(data.byteLength, this.#scanner.streamId)

      for (const bytes of data instanceof Uint8Array ? [data] : data) {
        this.#scanner.scan(bytes)
      }
    } catch (err: any) {
      event.stopImmediatePropagation()
      this.muxer.abort(err)
      this.#connection.abort(err)
    }
  }
}

function send (this: FlowingConnection, frame: Uint8Array | Uint8ArrayList): boolean {
  return this[flow].onSend(frame)
}
