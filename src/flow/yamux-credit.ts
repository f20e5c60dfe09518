import { StreamBufferError } from '@libp2p/interface'
import { streamOf } from './frame-writer.ts'
import { keepWholeWindow } from './paused-streams.ts'
import { isBehind } from './reading.ts'
import { MAX_WINDOW, ReceiveWindow } from './receive-window.ts'
import { UnreadBound } from './unread-bound.ts'
import { WindowBudget } from './window-budget.ts'
import { Flag, FrameType, windowUpdate } from './yamux-frames.ts'
import { YamuxReminders } from './yamux-reminders.ts'
import type { FrameWriter } from './frame-writer.ts'
import type { RoundTrip } from './round-trip.ts'
import type { FrameHeader } from './yamux-frames.ts'
import type { MessageStream, Stream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/** What the windows of a connection may have together, besides the first one that each stream has, in bytes */
const EXTRA_WINDOWS = 32 * 1024 * 1024

/** What a connection may hold that nobody reads, in bytes: the extra windows, and 128 first windows */
const MAX_UNREAD = 64 * 1024 * 1024

/** A message of a dialogue is no larger, in bytes. With a larger one the peer is at work for longer than it takes to wake up */
const SMALL = 4 * 1024

/** How often to look whether somebody reads a stream that nobody read, in ms: no event tells */
const LOOK_INTERVAL = 50

/**
 * Lets peers send as much as fits the path, and as the readers of the streams take. js-yamux
 * itself answers each frame with a window update, and grants 16 MiB after six frames: a peer
 * then fills its line for seconds, starves its own streams and pings, and libp2p aborts the
 * connection (js-libp2p#3463).
 *
 * Window updates of the muxer are withheld, and sent later, as fewer and smaller ones. The peer is never
 * told of more than the muxer has granted.
 */
export class YamuxCredit {
  readonly #connection: MessageStream
  readonly #roundTrip: RoundTrip
  readonly #frames: FrameWriter
  readonly #reminders: YamuxReminders
  readonly #unread = new UnreadBound(MAX_UNREAD)

  /** Of streams on which the peer has sent data, and may send more. Created when there is one, with what they share */
  #windows?: Map<number, ReceiveWindow>
  #budget?: WindowBudget

  /** The streams that the message at hand opens. The muxer will know them when it gets the message */
  #opening?: number[]

  /** Whether the last frame with data was small */
  #isSmall = false

  /** Whether this end has sent something since it last told the peer of what was taken */
  #hasSent = false

  /** Exists while a stream has data that nobody reads, and so was granted nothing */
  #looking?: NodeJS.Timeout

  constructor (connection: MessageStream, frames: FrameWriter, roundTrip: RoundTrip) {
    this.#connection = connection
    this.#frames = frames
    this.#roundTrip = roundTrip
    this.#reminders = new YamuxReminders(connection, frames)
  }

  /** Tell the peer of all that the muxer has granted, which tells it of the rest itself */
  end (): void {
    clearTimeout(this.#looking)
    this.#reminders.stop()

    try {
      this.#windows?.forEach(({ withheld }, streamId) => {
        if (withheld > 0) {
          this.#frames.write(windowUpdate(streamId, 0, withheld))
        }
      })
    } catch (err: any) {
      // nothing can be sent
      this.#connection.abort(err)
    }

    this.#windows = undefined
  }

  /** A message of the peer comes. `unfinished` is the stream of the last frame, which may not be whole */
  onMessage (bytes: number, unfinished: number): void {
    this.#opening = undefined
    this.#reminders.onMessage(bytes)

    if (this.#unread.onReceived(bytes, this.#frames.muxer.streams)) {
      this.#forgetEnded(unfinished)
    }
  }

  onHeader ({ type, flags, streamId, length }: FrameHeader): void {
    if (type === FrameType.data && length > 0) {
      const window = this.#windowOf(streamId, (flags & Flag.syn) !== 0 || this.#opening?.includes(streamId) === true)

      // the muxer keeps a frame until it is whole, and only then looks at its size
      if (length > Math.max(MAX_WINDOW, window == null ? 0 : window.credit + window.withheld)) {
        throw new StreamBufferError(`The peer has sent a frame of ${length} bytes, which no window allows`)
      }

      this.#isSmall = length <= SMALL
    }

    if (type === FrameType.windowUpdate && (flags & Flag.syn) !== 0) {
      (this.#opening ??= []).push(streamId)
    }

    // what comes next on the stream may have to wait at the peer
    if (type === FrameType.windowUpdate && this.#opens(streamId, flags)) {
      this.#reminders.onFrame(streamId, 0, performance.now())
    }

    if (type !== FrameType.ping && (flags & (Flag.fin | Flag.rst)) !== 0) {
      this.#end(streamId)
    }
  }

  /** The muxer sends data */
  onSend (): void {
    this.#hasSent = true
  }

  onData (streamId: number, bytes: number): void {
    const window = this.#windows?.get(streamId)

    if (window != null) {
      const now = performance.now()

      window.onData(bytes, now, this.#roundTrip)
      this.#reminders.onFrame(streamId, bytes, now)
    }
  }

  /**
   * The muxer sends one.
   *
   * @returns whether more can be sent now
   */
  onWindowUpdate (frame: Uint8Array | Uint8ArrayList, { flags, streamId, length }: FrameHeader): boolean {
    const window = this.#windows?.get(streamId)

    // the stream opens or ends, or the peer sends no more
    if (window == null || (flags & Flag.rst) !== 0) {
      return this.#frames.write(frame)
    }

    window.onMuxerGrant(length)

    const grant = this.#grant(streamId, window)

    // the peer of a dialogue waits for an answer, and wakes up while that is still being encrypted
    if (grant === 0 && flags === 0 && !(this.#hasSent && this.#isSmall)) {
      return true
    }

    this.#hasSent = false

    return this.#frames.write(windowUpdate(streamId, flags, grant))
  }

  /** @returns what the peer may be told now, in bytes. It must be told then */
  #grant (streamId: number, window: ReceiveWindow): number {
    const stream = window.mayBeDue ? streamOf(this.#frames.muxer, streamId) : undefined

    if (stream == null) {
      return 0
    }

    const now = performance.now()

    window.onTaken(now, isRead(stream), this.#roundTrip)
    const due = stream.readStatus === 'paused' ? 0 : window.due(stream.readBufferLength)

    if (due > 0) {
      keepWholeWindow(stream)
      window.grant(due, now)
    } else {
      this.#looking ??= setTimeout(() => { this.#look() }, LOOK_INTERVAL).unref()
    }

    return due
  }

  #look (): void {
    this.#looking = undefined

    if (this.#connection.status !== 'open') {
      return
    }

    try {
      this.#windows?.forEach((window, streamId) => {
        const due = this.#grant(streamId, window)

        if (due > 0) {
          this.#frames.write(windowUpdate(streamId, 0, due))
        }
      })
    } catch (err: any) {
      // nothing can be sent, and so the peer would wait forever
      this.#connection.abort(err)
    }
  }

  #windowOf (streamId: number, isNew: boolean): ReceiveWindow | undefined {
    const windows = this.#windows ??= new Map()
    let window = windows.get(streamId)

    // the muxer ignores data of streams that it does not know
    if (window == null && (isNew || streamOf(this.#frames.muxer, streamId) != null)) {
      window = new ReceiveWindow(performance.now(), this.#budget ??= new WindowBudget(EXTRA_WINDOWS), () => this.#keepsUp(streamId))
      windows.set(streamId, window)
    }

    return window
  }

  /** Whether a frame opens a stream, or says that the peer has accepted one of ours. The muxer resets what it does not accept */
  #opens (streamId: number, flags: number): boolean {
    return (flags & Flag.syn) !== 0 || ((flags & Flag.ack) !== 0 && streamOf(this.#frames.muxer, streamId) != null)
  }

  #keepsUp (streamId: number): boolean {
    const stream = streamOf(this.#frames.muxer, streamId)

    return stream != null && isRead(stream) && !isBehind(stream)
  }

  #end (streamId: number): void {
    this.#windows?.get(streamId)?.end()
    this.#windows?.delete(streamId)
    this.#reminders.onEnd(streamId)
  }

  /** This end has reset them, or the peer goes on after its FIN, or opens a stream twice */
  #forgetEnded (unfinished: number): void {
    const alive = new Set(this.#frames.muxer.streams.map(({ id }) => id))

    this.#windows?.forEach((_, streamId) => {
      // the muxer opens the stream of a first frame when it is whole
      if (!alive.has(`${streamId}`) && streamId !== unfinished) {
        this.#end(streamId)
      }
    })
  }
}

/** A `for await` loop may still keep what it was given. Its handler has had no turn yet if it was given now */
function isRead ({ readStatus, readBufferLength }: Stream): boolean {
  return readStatus !== 'paused' && readBufferLength === 0
}
