import { StreamBufferError } from '@libp2p/interface'
import { keepWholeWindow } from './paused-streams.ts'
import { isBehind } from './reading.ts'
import { MAX_WINDOW, ReceiveWindow, windowBudget } from './receive-window.ts'
import { REMINDER_INTERVAL, Reminders } from './reminders.ts'
import { Flag, FrameType, windowUpdate } from './yamux-frames.ts'
import type { WindowBudget } from './receive-window.ts'
import type { RoundTrip } from './round-trip.ts'
import type { FrameHeader } from './yamux-frames.ts'
import type { MessageStream, Stream, StreamMuxer } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/** What the windows of a connection may have together, besides the first one that each stream has, in bytes */
const EXTRA_WINDOWS = 32 * 1024 * 1024

/** What a connection may hold that nobody reads, in bytes: the extra windows, and 128 first windows */
const MAX_UNREAD = 64 * 1024 * 1024

/** Look at what is held after this many bytes */
const LOOK_BYTES = 1024 * 1024

/** A peer that has sent this much, in bytes, uploads */
const MUCH = 64 * 1024

/** A message of a dialogue is no larger, in bytes. With a larger one the peer is at work for longer than it takes to wake up */
const SMALL = 4 * 1024

/** How often to look whether somebody reads a stream that nobody read, in ms: no event tells */
const LOOK_INTERVAL = 50

/** What passes between the muxer and its connection */
interface Frames {
  readonly muxer: StreamMuxer

  /** Sends a frame */
  write(frame: Uint8Array | Uint8ArrayList): boolean
}

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
  readonly #frames: Frames

  /** Of streams on which the peer has sent data, and may send more. Created when there is one, with what they share */
  #windows?: Map<number, ReceiveWindow>
  #budget?: WindowBudget

  /** The streams that the message at hand opens. The muxer will know them when it gets the message */
  #opening?: number[]

  #bytes = 0

  /** Exist while the peer uploads */
  #reminders?: Reminders
  #reminding?: NodeJS.Timeout

  /** Since the peer began to send, or uploaded no more */
  #uploaded = 0

  /** Whether the last frame with data was small */
  #isSmall = false

  /** Whether this end has sent something since it last told the peer of what was taken */
  #hasSent = false

  /** Exists while a stream has data that nobody reads, and so was granted nothing */
  #looking?: NodeJS.Timeout

  constructor (connection: MessageStream, frames: Frames, roundTrip: RoundTrip) {
    this.#connection = connection
    this.#frames = frames
    this.#roundTrip = roundTrip
  }

  /** Tell the peer of all that the muxer has granted, which tells it of the rest itself */
  end (): void {
    clearTimeout(this.#looking)
    this.#stopReminding()

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
    this.#bytes += bytes
    this.#uploaded += bytes
    this.#reminders?.onMessage(bytes)

    if (this.#reminders == null && this.#uploaded > MUCH) {
      this.#startReminding()
    }

    if (this.#bytes >= LOOK_BYTES) {
      this.#bytes = 0
      this.#checkUnread()
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
      this.#reminders?.onFrame(streamId, 0, performance.now())
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
      this.#reminders?.onFrame(streamId, bytes, now)
    }
  }

  /**
   * The muxer sends one.
   *
   * @returns whether more can be sent now
   */
  onWindowUpdate (frame: Uint8Array | Uint8ArrayList, { flags, streamId, length }: FrameHeader): boolean {
    const window = this.#windows?.get(streamId)

    if ((flags & Flag.rst) !== 0) {
      this.#end(streamId)
    }

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
    const stream = window.mayBeDue ? this.#streamOf(streamId) : undefined

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

  #startReminding (): void {
    const now = performance.now()
    const reminders = new Reminders(now)

    this.#frames.muxer.streams.forEach(({ id }) => { reminders.onFrame(Number(id), 0, now) })
    this.#reminders = reminders
    this.#reminding = setInterval(() => { this.#remind(reminders) }, REMINDER_INTERVAL).unref()
  }

  #stopReminding (): void {
    clearInterval(this.#reminding)
    this.#reminders = undefined
    this.#uploaded = 0
  }

  #remind (reminders: Reminders): void {
    const now = performance.now()

    if (this.#connection.status !== 'open' || reminders.isOver(now)) {
      this.#stopReminding()
      return
    }

    // a stream alone waits for no other
    const streamId = this.#frames.muxer.streams.length > 1 ? reminders.next(now) : undefined

    if (streamId == null) {
      return
    }

    if (this.#streamOf(streamId) == null) {
      reminders.end(streamId)
      return
    }

    try {
      this.#frames.write(windowUpdate(streamId, 0, 0))
    } catch (err: any) {
      this.#connection.abort(err)
    }
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
    if (window == null && (isNew || this.#streamOf(streamId) != null)) {
      window = new ReceiveWindow(performance.now(), this.#budget ??= windowBudget(EXTRA_WINDOWS), () => this.#keepsUp(streamId))
      windows.set(streamId, window)
    }

    return window
  }

  /** Whether a frame opens a stream, or says that the peer has accepted one of ours. The muxer resets what it does not accept */
  #opens (streamId: number, flags: number): boolean {
    return (flags & Flag.syn) !== 0 || ((flags & Flag.ack) !== 0 && this.#streamOf(streamId) != null)
  }

  #streamOf (streamId: number): Stream | undefined {
    const id = `${streamId}`

    return this.#frames.muxer.streams.find(stream => stream.id === id)
  }

  #keepsUp (streamId: number): boolean {
    const stream = this.#streamOf(streamId)

    return stream != null && isRead(stream) && !isBehind(stream)
  }

  #end (streamId: number): void {
    this.#windows?.get(streamId)?.end()
    this.#windows?.delete(streamId)
    this.#reminders?.end(streamId)
  }

  #checkUnread (): void {
    const { streams } = this.#frames.muxer
    const unread = streams.reduce((sum, stream) => sum + stream.readBufferLength, 0)

    if (unread > MAX_UNREAD) {
      throw new StreamBufferError(`${unread} bytes of ${streams.length} streams are unread, and ${MAX_UNREAD} may be`)
    }
  }

  /** A peer that goes on after its FIN, or opens a stream twice, makes windows that nothing else ends */
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
