import { Uint8ArrayList } from 'uint8arraylist'
import type { MessageStream, Stream, StreamCloseEvent } from '@libp2p/interface'

/** The stream waits when this much of it waits for its reader, in bytes */
const PAUSE_BYTES = 128 * 1024

/** It goes on when no more than this is left */
const RESUME_BYTES = PAUSE_BYTES / 2

type Data = Uint8Array | Uint8ArrayList

/** The loops that read streams now */
const readings = new WeakMap<MessageStream, Reading>()

/** What a loop has left that ended early, and the stream does not take back */
const leftovers = new WeakMap<MessageStream, Data[]>()

/** What is read of a stream, and how its two ends are */
type ReadableStream = MessageStream & Pick<Stream, 'readStatus' | 'remoteWriteStatus'>

/**
 * Takes the place of a stream's `[Symbol.asyncIterator]`, which never lets the stream wait. A
 * handler that is slower than the network would have all of it in memory.
 *
 * It ends when all has been read that the peer sent before it closed its end. The iterator of
 * the base class ends as soon as the peer has closed its end, and what is paused then is lost.
 */
export async function * iterate (this: ReadableStream): AsyncGenerator<Data> {
  const rest = leftovers.get(this)

  if (rest == null && !isReadable(this)) {
    return
  }

  leftovers.delete(this)

  const reading = new Reading(this, rest)
  readings.set(this, reading)

  try {
    for (;;) {
      const data = reading.take() ?? await reading.next()

      if (data == null) {
        return
      }

      yield data
    }
  } finally {
    readings.delete(this)
    reading.stop()
  }
}

/** Whether a `for await` loop over the stream has a message at work, or some that wait */
export function isBehind (stream: MessageStream): boolean {
  return readings.get(stream)?.isWaiting === false
}

function isReadable ({ readStatus }: ReadableStream): boolean {
  return readStatus === 'readable' || readStatus === 'paused'
}

class Reading {
  readonly #stream: ReadableStream
  readonly #queue: Data[]
  #queuedBytes: number

  /** Whether this has made the stream wait */
  #isHolding = false

  #state: 'open' | 'ended' | 'failed' = 'open'
  #error?: Error

  /** Exists while the reader waits */
  #waiting?: PromiseWithResolvers<void>

  constructor (stream: ReadableStream, queue: Data[] = []) {
    this.#stream = stream
    this.#queue = queue
    this.#queuedBytes = byteLengthOf(queue)

    stream.addEventListener('message', this.#onMessage)
    stream.addEventListener('close', this.#onClose)
    stream.addEventListener('remoteCloseWrite', this.#onRemoteEnd)

    if (stream.remoteWriteStatus !== 'writable') {
      this.#onRemoteEnd()
    }
  }

  /** Whether the loop has asked for more than there is */
  get isWaiting (): boolean {
    return this.#waiting != null
  }

  take (): Data | undefined {
    const data = this.#queue.shift()

    if (data != null) {
      this.#queuedBytes -= data.byteLength
    }

    if (this.#isHolding && this.#queuedBytes <= RESUME_BYTES) {
      this.#resume()
    }

    return data
  }

  /**
   * @returns undefined when there is no more
   * @throws {Error} what ended the stream
   */
  async next (): Promise<Data | undefined> {
    while (this.#queue.length === 0 && this.#state === 'open') {
      this.#waiting = Promise.withResolvers()
      await this.#waiting.promise
    }

    if (this.#error != null) {
      throw this.#error
    }

    return this.take()
  }

  stop (): void {
    const stream = this.#stream

    stream.removeEventListener('message', this.#onMessage)
    stream.removeEventListener('close', this.#onClose)
    stream.removeEventListener('remoteCloseWrite', this.#onRemoteEnd)

    if (this.#queue.length > 0) {
      this.#giveBack()
    }

    if (this.#isHolding) {
      this.#resume()
    }
  }

  /**
   * A loop that breaks leaves the rest to the next reader. The iterator of the base class loses it. If
   * others listen they have had it, and a stream that has ended keeps nothing: then it is for the next loop
   */
  #giveBack (): void {
    const stream = this.#stream

    if (isReadable(stream) && stream.listenerCount('message') === 0) {
      stream.unshift(new Uint8ArrayList(...this.#queue))
    } else {
      leftovers.set(stream, [...this.#queue])
    }

    this.#queue.length = 0
  }

  #pause (): void {
    if (this.#stream.readStatus === 'readable') {
      this.#isHolding = true
      this.#stream.pause()
    }
  }

  #resume (): void {
    this.#isHolding = false

    if (this.#stream.readStatus === 'paused') {
      try {
        this.#stream.resume()
      } catch {
        // nobody is left to be told to go on
      }
    }

    this.#endIfRead()
  }

  readonly #onMessage = ({ data }: { data: Data }): void => {
    if (this.#state !== 'open') {
      return
    }

    this.#queue.push(data)
    this.#queuedBytes += data.byteLength

    if (this.#queuedBytes >= PAUSE_BYTES) {
      this.#pause()
    }

    this.#endIfRead()
    this.#wake()
  }

  readonly #onClose = ({ error }: StreamCloseEvent): void => {
    if (this.#state === 'open' && error != null) {
      this.#state = 'failed'
      this.#error = error
      this.#queue.length = 0
      this.#wake()
    } else {
      this.#endIfRead()
    }
  }

  readonly #onRemoteEnd = (): void => {
    // the muxer may deliver the data of the same frame behind this
    queueMicrotask(() => { this.#endIfRead() })
  }

  #endIfRead (): void {
    const { remoteWriteStatus, readBufferLength } = this.#stream

    if (this.#state === 'open' && remoteWriteStatus !== 'writable' && readBufferLength === 0) {
      this.#state = 'ended'
      this.#wake()
    }
  }

  #wake (): void {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}

function byteLengthOf (queue: Data[]): number {
  return queue.reduce((sum, { byteLength }) => sum + byteLength, 0)
}
