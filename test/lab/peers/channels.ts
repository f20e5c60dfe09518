import type { Bytes, Channel } from './contender.ts'
import type { MessageStream } from '@libp2p/interface'
import type net from 'node:net'

/**
 * A connection of libp2p 3 or a stream on one.
 *
 * It listens for 'drain' itself: `onDrain()` of `@libp2p/utils` resolves at once from its second use on.
 */
export class MessageChannel implements Channel {
  readonly #stream: MessageStream
  readonly #close: () => Promise<void>

  constructor (stream: MessageStream, close: () => Promise<void> = async () => {}) {
    this.#stream = stream
    this.#close = close
    stream.addEventListener('message', event => { this.onBytes(event.data) })
    stream.addEventListener('drain', () => { this.onDrain() })
  }

  onBytes: (bytes: Bytes) => void = () => {}

  onDrain: () => void = () => {}

  send (bytes: Uint8Array): boolean {
    return this.#stream.send(bytes)
  }

  whenClosed (callback: (err?: Error) => void): void {
    this.#stream.addEventListener('close', ({ error }) => { callback(error) }, { once: true })
  }

  async close (): Promise<void> {
    return this.#close()
  }
}

export class SocketChannel implements Channel {
  readonly #socket: net.Socket

  constructor (socket: net.Socket) {
    this.#socket = socket
    socket.on('data', bytes => { this.onBytes(bytes) })
    socket.on('drain', () => { this.onDrain() })
  }

  onBytes: (bytes: Bytes) => void = () => {}

  onDrain: () => void = () => {}

  send (bytes: Uint8Array): boolean {
    return this.#socket.write(bytes)
  }

  whenClosed (callback: (err?: Error) => void): void {
    this.#socket.once('error', callback)
    this.#socket.once('close', () => { callback() })
  }

  async close (): Promise<void> {}
}

/** A stream of libp2p 1 or 2 */
export interface IterableStream {
  source: AsyncIterable<Bytes>
  sink(source: AsyncIterable<Bytes>): Promise<void>
  close(): Promise<void>
}

/** Closes when the remote has closed its side. It is never full. */
export class IterableChannel implements Channel {
  readonly #stream: IterableStream
  readonly #queue: Uint8Array[] = []
  readonly #closed: Promise<void>
  #queued = Promise.withResolvers<void>()
  #isOver = false

  constructor (stream: IterableStream) {
    this.#stream = stream
    this.#closed = Promise.all([stream.sink(this.#sent()), this.#receive()]).then(() => {})
    this.#closed.catch(() => {})
  }

  onBytes: (bytes: Bytes) => void = () => {}

  onDrain: () => void = () => {}

  send (bytes: Uint8Array): boolean {
    this.#queue.push(bytes)
    this.#queued.resolve()

    return true
  }

  whenClosed (callback: (err?: Error) => void): void {
    this.#closed.then(() => { callback() }, callback)
  }

  async close (): Promise<void> {
    await this.#stream.close()
  }

  async * #sent (): AsyncGenerator<Uint8Array> {
    while (!this.#isOver || this.#queue.length > 0) {
      yield * this.#queue.splice(0)

      if (!this.#isOver) {
        await this.#queued.promise
        this.#queued = Promise.withResolvers()
      }
    }
  }

  async #receive (): Promise<void> {
    // who opened it has not assigned a callback yet
    await Promise.resolve()

    try {
      for await (const bytes of this.#stream.source) {
        this.onBytes(bytes)
      }
    } finally {
      this.#isOver = true
      this.#queued.resolve()
    }
  }
}
