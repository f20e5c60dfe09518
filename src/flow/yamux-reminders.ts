import { streamOf } from './frame-writer.ts'
import { REMINDER_INTERVAL, Reminders } from './reminders.ts'
import { windowUpdate } from './yamux-frames.ts'
import type { FrameWriter } from './frame-writer.ts'
import type { MessageStream } from '@libp2p/interface'

/** A peer that has sent this much, in bytes, uploads */
const MUCH = 64 * 1024

/** Reminds a peer, while it uploads, of its other streams: an update of 0 bytes has it send what waits on one */
export class YamuxReminders {
  readonly #connection: MessageStream
  readonly #frames: FrameWriter

  /** Since the peer began to send, or uploaded no more, in bytes */
  #uploaded = 0

  /** Exist while the peer uploads */
  #reminders?: Reminders
  #timer?: NodeJS.Timeout

  constructor (connection: MessageStream, frames: FrameWriter) {
    this.#connection = connection
    this.#frames = frames
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
  onFrame (streamId: number, bytes: number, now: number): void {
    this.#reminders?.onFrame(streamId, bytes, now)
  }

  onEnd (streamId: number): void {
    this.#reminders?.end(streamId)
  }

  stop (): void {
    clearInterval(this.#timer)
    this.#reminders = undefined
    this.#uploaded = 0
  }

  #start (): void {
    const now = performance.now()
    const reminders = new Reminders(now)

    this.#frames.muxer.streams.forEach(({ id }) => { reminders.onFrame(Number(id), 0, now) })
    this.#reminders = reminders
    this.#timer = setInterval(() => { this.#remind(reminders) }, REMINDER_INTERVAL).unref()
  }

  #remind (reminders: Reminders): void {
    const { muxer } = this.#frames
    const now = performance.now()

    if (this.#connection.status !== 'open' || reminders.isOver(now)) {
      this.stop()
      return
    }

    // a stream alone waits for no other
    const streamId = muxer.streams.length > 1 ? reminders.next(now) : undefined

    if (streamId == null) {
      return
    }

    if (streamOf(muxer, streamId) == null) {
      reminders.end(streamId)
      return
    }

    try {
      this.#frames.write(windowUpdate(streamId, 0, 0))
    } catch (err: any) {
      this.#connection.abort(err)
    }
  }
}
