import { StreamBufferError } from '@libp2p/interface'
import { ReceiveWindowExceededError } from './errors.ts'
import { Flag } from './frames.ts'
import { PeerReminders } from './peer-reminders.ts'
import { ReceiveWindow } from './receive-window.ts'
import { RoundTrip } from './round-trip.ts'
import { WindowBudget } from './window-budget.ts'
import type { FrameHeader } from './frames.ts'
import type { Holder, NodeUnread } from './node-unread.ts'
import type { YamuxSettings } from './settings.ts'

/** What the windows of a connection may have together, besides the first one that each stream has, in bytes */
const EXTRA_WINDOWS = 32 * 1024 * 1024

/** What a connection may hold that nobody reads, in bytes: the extra windows, and 128 first windows */
const MAX_UNREAD = 64 * 1024 * 1024

/** A stream of the connection, as far as it receives */
export interface Readable {
  /** What nobody has read, in bytes */
  readonly unread: number

  /** Whether the peer may send on the stream */
  readonly isReceiving: boolean

  /** What the peer may send. Only while it may */
  readonly receiveWindow: ReceiveWindow

  /** Whether a reader has taken all that came until now */
  readonly isRead: boolean

  /** The same, and it has asked for more if it is a loop. A handler of 'message' has had no turn yet */
  readonly keepsUp: boolean

  /** Whether the peer may be granted more */
  readonly mayGrant: boolean
}

export interface ReceivingInit<Stream> {
  settings: YamuxSettings

  /** Of all connections of the node */
  unread: NodeUnread

  /** The array of the muxer */
  streams: readonly Stream[]

  /** Has the peer send what waits on a stream */
  remindOf(stream: Stream): void

  /** End the connection */
  giveUp(err: Error): void
}

/** What the peer may send on the streams of a connection, and what they hold that nobody has read */
export class Receiving<Stream extends Readable = Readable> implements Holder {
  readonly #init: ReceivingInit<Stream>
  readonly #reminders: PeerReminders<Stream>

  /** Of the path, by the answers to pings and by what comes for window updates */
  readonly roundTrip = new RoundTrip()

  /** What the windows share. Exists once the peer has sent data */
  #budget?: WindowBudget
  #unread = 0

  constructor (init: ReceivingInit<Stream>) {
    this.#init = init
    this.#reminders = new PeerReminders(init, init.remindOf)
  }

  /** A message of the peer comes */
  onMessage (bytes: number): void {
    this.#reminders.onMessage(bytes)
  }

  /**
   * @returns whether to keep the data that comes. A stream that has ended gets none
   * @throws {ReceiveWindowExceededError} it is more than the peer may send
   */
  mayKeep ({ flags, streamId, length }: FrameHeader, stream?: Stream): boolean {
    const { firstWindow, maxWindow } = this.#init.settings
    const isNew = stream == null && (flags & Flag.syn) !== 0
    const isReceiving = stream?.isReceiving === true

    // what comes for a stream that has ended may have been allowed before
    let most = isNew ? firstWindow : maxWindow

    if (isReceiving && length > 0) {
      most = stream.receiveWindow.credit
    }

    if (length > most) {
      throw new ReceiveWindowExceededError(`The peer has sent ${length} bytes on stream ${streamId}, and ${most} may be`)
    }

    return isNew || isReceiving
  }

  /** So many bytes of data have come for the stream */
  onPart (stream: Stream, bytes: number): void {
    const now = performance.now()

    stream.receiveWindow.onData(bytes, now, this.roundTrip)
    this.#reminders.onFrame(stream, bytes, now)
  }

  /** The peer has opened the stream, or accepted it: what comes next may have to wait at the peer */
  onOpened (stream: Stream): void {
    this.#reminders.onFrame(stream, 0, performance.now())
  }

  openWindow (stream: Readable): ReceiveWindow {
    const { settings: { firstWindow, maxWindow }, unread } = this.#init

    this.#budget ??= new WindowBudget(EXTRA_WINDOWS, () => unread.isFull)

    return new ReceiveWindow(performance.now(), this.#budget, () => stream.keepsUp, firstWindow, maxWindow)
  }

  /** @returns what the peer may be told to send now, in bytes. It must be told then */
  grant (stream: Readable, window: ReceiveWindow): number {
    // what is taken later was not taken at once
    if (!stream.mayGrant) {
      return 0
    }

    const now = performance.now()

    window.onTaken(now, stream.isRead, this.roundTrip)

    const due = window.due(stream.unread)

    if (due > 0) {
      window.grant(due, now)
    }

    return due
  }

  get unread (): number {
    return this.#unread
  }

  /** More is unread, or less, in bytes */
  onUnread (change: number): void {
    if (change === 0) {
      return
    }

    this.#unread += change
    this.#init.unread.change(this, change)

    if (this.#unread > MAX_UNREAD) {
      this.giveUp(new StreamBufferError(`${this.#unread} bytes of ${this.#init.streams.length} streams are unread, and ${MAX_UNREAD} may be`))
    }
  }

  giveUp (err: Error): void {
    this.#init.giveUp(err)
  }

  onEnd (stream: Stream): void {
    this.#reminders.onEnd(stream)
  }

  end (): void {
    this.#reminders.stop()
  }
}
