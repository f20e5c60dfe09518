import { iterate } from './reading.ts'
import { MAX_WINDOW } from './receive-window.ts'
import { UnreadBound } from './unread-bound.ts'
import { isWindowed } from './windowed-stream.ts'
import type { WindowedStream } from './windowed-stream.ts'
import type { Connection, Stream } from '@libp2p/interface'

/** What js-libp2p keeps of a paused stream before it aborts the stream, in bytes, unless the muxer's options say otherwise */
const DEFAULT_READ_BUFFER = 4 * 1024 * 1024

/** What is kept of a paused stream: what was there when it paused, and a window */
const PAUSED_READ_BUFFER = DEFAULT_READ_BUFFER + MAX_WINDOW

/**
 * What is kept of all streams of a connection that nobody reads, in bytes: that of as many
 * streams as a handler has by default, 32
 */
const MAX_UNREAD = 32 * MAX_WINDOW

/**
 * Makes the streams of a connection wait for their readers, if their muxer can make the peer
 * wait. A stream that pauses loses nothing: a whole window has room. What is read with `for await`
 * pauses by itself.
 *
 * Streams without windows (mplex) are left as they are. Only the whole connection could wait,
 * and what reads one stream might wait for another.
 */
export class PausedStreams {
  readonly #connection: Connection
  readonly #unread = new UnreadBound(MAX_UNREAD)

  constructor (connection: Connection) {
    this.#connection = connection
  }

  /** Look for new streams, which the muxer adds at the end. To be called before their handlers are */
  adopt (): void {
    const { multiplexer, streams } = this.#connection

    for (let i = streams.length - 1; i >= 0 && !isAdopted(streams[i]); i--) {
      adopt(streams[i], multiplexer)
    }
  }

  onReceived (bytes: number): void {
    try {
      this.#unread.onReceived(bytes, this.#connection.streams)
    } catch (err: any) {
      this.#connection.abort(err)
    }
  }
}

function isAdopted (stream: Stream): boolean {
  return Object.hasOwn(stream, Symbol.asyncIterator)
}

function adopt (stream: Stream, multiplexer?: string): void {
  if (!isWindowed(stream, multiplexer)) {
    // only mark it
    const { [Symbol.asyncIterator]: original } = stream
    stream[Symbol.asyncIterator] = original
    return
  }

  stream[Symbol.asyncIterator] = iterate
  stream.sendResume = resumeUnlessPaused

  keepWholeWindow(stream)
}

/** Let a stream that is paused keep all that may arrive, unless the muxer's options say otherwise */
export function keepWholeWindow (stream: Stream): void {
  if (stream.maxReadBufferLength === DEFAULT_READ_BUFFER) {
    stream.maxReadBufferLength = PAUSED_READ_BUFFER
  }
}

/** The reader of what had been kept may have paused the stream again. One function for all streams */
function resumeUnlessPaused (this: WindowedStream): void {
  if (this.readStatus !== 'paused') {
    Object.getPrototypeOf(this).sendResume.call(this)
  }
}
