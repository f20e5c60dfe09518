import { REMINDER_INTERVAL, Reminders } from './reminders.ts'

/** A peer that has sent this much, in bytes, uploads */
const MUCH = 64 * 1024

/** The streams that the muxer has accepted */
export interface AcceptedStreams<Stream> {
  readonly streams: readonly Stream[]
}

/** Reminds a peer, while it uploads, of its other streams: an update of 0 bytes has js-yamux send what waits on one */
export class PeerReminders<Stream extends { readonly isReceiving: boolean }> {
  readonly #muxer: AcceptedStreams<Stream>
  readonly #remindOf: (stream: Stream) => void

  /** Since the peer began to send, or uploaded no more, in bytes */
  #uploaded = 0

  /** Exist while the peer uploads */
  #reminders?: Reminders<Stream>
  #timer?: ReturnType<typeof setInterval>

  constructor (muxer: AcceptedStreams<Stream>, remindOf: (stream: Stream) => void) {
    this.#muxer = muxer
    this.#remindOf = remindOf
  }

  /** A message of the peer comes */
  onMessage (bytes: number): void {
    this.#uploaded += bytes
    this.#reminders?.onMessage(bytes)

    if (this.#reminders == null && this.#uploaded > MUCH) {
      this.#start()
    }
  }

  /** The peer has sent something on a stream: so much data, or 0 */
  onFrame (stream: Stream, bytes: number, now: number): void {
    this.#reminders?.onFrame(stream, bytes, now)
  }

  onEnd (stream: Stream): void {
    this.#reminders?.end(stream)
  }

  stop (): void {
    clearInterval(this.#timer)
    this.#reminders = undefined
    this.#uploaded = 0
  }

  #start (): void {
    const now = performance.now()
    const reminders = this.#reminders = new Reminders<Stream>(now)

    this.#muxer.streams.forEach(stream => { reminders.onFrame(stream, 0, now) })
    this.#timer = setInterval(() => { this.#remind(reminders) }, REMINDER_INTERVAL)
    // browsers have numbers
    ;(this.#timer as Partial<NodeJS.Timeout>).unref?.()
  }

  #remind (reminders: Reminders<Stream>): void {
    const now = performance.now()

    if (reminders.isOver(now)) {
      this.stop()
      return
    }

    // a stream alone waits for no other
    const stream = this.#muxer.streams.length > 1 ? reminders.next(now) : undefined

    if (stream?.isReceiving === false) {
      reminders.end(stream)
    } else if (stream != null) {
      this.#remindOf(stream)
    }
  }
}
