import { hasMembers } from '../foreign/check.ts'
import { RoundTrip } from './round-trip.ts'
import { YamuxCredit } from './yamux-credit.ts'
import { Flag, FrameScanner, FrameType, loneHeader } from './yamux-frames.ts'
import { YamuxSender } from './yamux-sender.ts'
import type { FrameHeader, FrameListener } from './yamux-frames.ts'
import type { MessageStream, StreamMessageEvent, StreamMuxer } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface YamuxFlowInit {
  /** Let peers send what fits the path and the readers */
  credit: boolean

  /** Send no more than fits the path */
  sendWindow: boolean
}

/** `ping` is not part of the interface, so it is looked for before it is used */
interface PingingMuxer extends StreamMuxer {
  ping?(): Promise<unknown>
}

/**
 * What passes between a muxer of yamux and its connection, in both directions: how much peers
 * may send, and how much is sent. Reads the wire format of yamux only.
 */
export class YamuxFlow implements FrameListener {
  readonly muxer: PingingMuxer
  readonly #connection: MessageStream
  readonly #send: MessageStream['send']
  readonly #scanner = new FrameScanner(this)
  readonly #roundTrip = new RoundTrip()
  readonly #credit?: YamuxCredit
  readonly #sender?: YamuxSender

  /** The ping that is on its way */
  #ping?: { number: number, at: number }

  constructor (connection: MessageStream, createMuxer: () => StreamMuxer, { credit, sendWindow }: YamuxFlowInit) {
    this.#connection = connection
    this.#send = connection.send.bind(connection)

    connection.send = frame => this.#onSend(frame)
    // registered before the muxer listens, so that these are called first
    connection.addEventListener('message', event => { this.#onMessage(event) })
    const sender = sendWindow ? new YamuxSender(connection, this.#send, async () => this.muxer.ping?.()) : undefined

    this.muxer = createMuxer()
    this.#sender = hasMembers('pingingMuxer', this.muxer) ? sender : undefined
    this.#credit = credit ? new YamuxCredit(connection, this.muxer, this.#roundTrip, frame => this.#write(frame)) : undefined
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

  #onSend (frame: Uint8Array | Uint8ArrayList): boolean {
    const header = loneHeader(frame)

    if (header?.type === FrameType.windowUpdate && this.#credit != null) {
      return this.#credit.onWindowUpdate(frame, header)
    }

    const canSendMore = this.#write(frame)

    if (header?.type === FrameType.ping && header.flags === Flag.syn) {
      this.#ping = { number: header.length, at: performance.now() }
      this.#sender?.onPing(this.#ping.at)
    }

    return canSendMore
  }

  #write (frame: Uint8Array | Uint8ArrayList): boolean {
    return this.#sender == null ? this.#send(frame) : this.#sender.send(frame)
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
