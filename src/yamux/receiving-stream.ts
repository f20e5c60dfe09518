import { StreamMessageEvent } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import { areTooMany, withoutWaste } from './chunks.ts'
import { ReadLoop } from './read-loop.ts'
import { SendingStream } from './sending-stream.ts'
import type { Data } from './read-loop.ts'
import type { ReceiveWindow } from './receive-window.ts'
import type { Readable } from './receiving.ts'
import type { AbortOptions } from '@libp2p/interface'

/**
 * How a stream receives: what is read lets the peer send more. Of the base class it overrides `onData`,
 * `dispatchReadBuffer` and the iterator.
 */
export abstract class ReceivingStream<Stream> extends SendingStream<Stream> implements Readable {
  /** What the peer may send. Exists once it has sent something, until it sends no more */
  #window?: ReceiveWindow

  /** What was unread when the muxer was told last, in bytes */
  #unread = 0

  /** In how many the read buffer holds it */
  #chunks = 0

  #loop?: ReadLoop

  /** What a loop has left that ended early, for the next one */
  #rest: Data[] = []

  /** What a loop that begins after the end is told */
  protected endError?: Error

  /** Whether the peer may send on the stream */
  abstract get isReceiving (): boolean

  /** What nobody has read, in bytes */
  get unread (): number {
    return this.readBuffer.byteLength + (this.#loop?.unread ?? 0)
  }

  /** Whether a reader has taken all that came until now */
  get isRead (): boolean {
    return this.readStatus !== 'paused' && this.readBuffer.byteLength === 0
  }

  /** The same, and it has asked for more if it is a loop. A handler of 'message' has had no turn yet */
  get keepsUp (): boolean {
    return this.isRead && this.#loop?.isWaiting !== false
  }

  /** Whether the peer may be granted more */
  get mayGrant (): boolean {
    return this.readStatus !== 'paused' && this.#loop?.isBehind !== true
  }

  /** What the peer may send. Only while it may */
  get receiveWindow (): ReceiveWindow {
    this.#window ??= this.owner.receiving.openWindow(this)

    return this.#window
  }

  onData (data: Uint8Array | Uint8ArrayList): void {
    // no window bounds how many a peer sends, and FIN may come in one
    if (data.byteLength === 0) {
      return
    }

    if (this.readStatus !== 'readable' || this.readBuffer.byteLength > 0 || this.listenerCount('message') === 0) {
      this.#chunks = this.readBuffer.byteLength === 0 ? 1 : this.#chunks + 1
      super.onData(withoutWaste(data))
      this.#mergeChunks()
      this.onTaken()
      return
    }

    if (this.#loop == null) {
      // an update for what is about to be read leaves with the answer
      this.onTaken()
      this.dispatchEvent(new StreamMessageEvent(data))
    } else {
      this.dispatchEvent(new StreamMessageEvent(data))
      this.onTaken()
    }
  }

  #mergeChunks (): void {
    const { byteLength } = this.readBuffer

    if (areTooMany(this.#chunks, byteLength)) {
      const bytes = this.readBuffer.slice()

      this.readBuffer.consume(byteLength)
      this.readBuffer.append(bytes)
      this.#chunks = 1
    }
  }

  protected dispatchReadBuffer (): void {
    super.dispatchReadBuffer()
    this.onTaken()
  }

  sendPause (): void {}

  sendResume (): void {
    this.onTaken()
  }

  async * [Symbol.asyncIterator] (): AsyncGenerator<Data> {
    this.assertNotFailed()

    if (this.#rest.length === 0 && !this.#isReadable && this.endError == null) {
      return
    }

    const rest = this.#rest
    this.#rest = []
    const loop = this.#loop = new ReadLoop({
      stream: this,
      rest,
      isOver: () => !this.#isReadable || (this.remoteWriteStatus !== 'writable' && this.readBuffer.byteLength === 0),
      failure: () => this.failure ?? this.#readError,
      onChange: () => { this.onTaken() }
    })

    try {
      for (;;) {
        const data = await loop.next()

        if (data == null) {
          return
        }

        yield data
      }
    } finally {
      this.#giveBack(loop)
    }
  }

  /** What a loop has left that breaks is for the next reader. If others listen they have had it */
  #giveBack (loop: ReadLoop): void {
    const rest = loop.stop()

    this.#loop = undefined

    if (rest.length > 0 && this.#isReadable && this.listenerCount('message') === 0) {
      this.readBuffer.prepend(new Uint8ArrayList(...rest))
    } else {
      this.#rest = rest
    }

    this.onTaken()
  }

  /** What ended the stream without the peer's FIN, once all has been read */
  get #readError (): Error | undefined {
    return (this.status === 'aborted' || this.status === 'reset') && this.readBuffer.byteLength === 0 ? this.endError : undefined
  }

  get #isReadable (): boolean {
    return this.readStatus === 'readable' || this.readStatus === 'paused'
  }

  /** Something was read, or has come: tell the peer of what is free */
  protected onTaken (): void {
    this.#account()

    const window = this.#window

    if (window != null && window.mayBeDue) {
      const bytes = this.owner.receiving.grant(this, window)

      if (bytes > 0) {
        this.owner.sending.update(this.streamId, this.openingFlag(), bytes)
      }
    }
  }

  #account (): void {
    const { unread } = this

    if (unread !== this.#unread && this.endError == null) {
      const change = unread - this.#unread

      this.#unread = unread
      this.owner.receiving.onUnread(change)
    }
  }

  async sendCloseRead (options?: AbortOptions): Promise<void> {
    options?.signal?.throwIfAborted()
    this.#account()
  }

  /** The peer sends no more */
  protected endWindow (): void {
    this.#window?.end()
    this.#window = undefined
  }

  /** Nothing is received any more */
  protected endReceiving (error: Error): void {
    this.endError = error
    this.endWindow()
    this.owner.receiving.onUnread(-this.#unread)
    this.#unread = 0
  }
}
