import { HandshakeQueue, QueuedHandshake } from '../event-loop/handshake-queue.ts'
import type { MessageStream, Stream } from '@libp2p/interface'
import type { Socket } from 'node:net'

/**
 * Stop reading when this much of a peer's data waits for a reader, in bytes. With the last
 * chunk and Node's buffer up to 256 KiB are kept.
 */
const MAX_UNREAD_BYTES = 64 * 1024

/** All connections share it, as they share the event loop */
const handshakes = new HandshakeQueue()

export interface Reader extends Pick<MessageStream, 'status' | 'readBufferLength'>, Pick<Stream, 'readStatus'> {
  /** Deal with this data, or keep it until somebody listens */
  onRead(data: Uint8Array): void
}

/**
 * Hands what a socket reads to the connection. The first data goes through the queue of
 * handshakes, all later data directly. While nobody listens it stops reading, so that the
 * peer waits too.
 */
export class Incoming {
  readonly #socket: Socket
  readonly #reader: Reader

  /** Whether the reader has got any data of the peer */
  #isHandedOn = false

  /** Exists while the first data waits for its turn */
  #queued?: QueuedHandshake

  constructor (socket: Socket, reader: Reader) {
    this.#socket = socket
    this.#reader = reader
  }

  add (data: Uint8Array): void {
    if (this.#isHandedOn) {
      this.#reader.onRead(data)
    } else if (data.byteLength > 0) {
      this.#queued ??= new QueuedHandshake(handshakes, data => { this.#handOnFirst(data) })
      this.#queued.add(data)
    }

    if (this.#reader.status === 'open' && this.#waitingBytes >= MAX_UNREAD_BYTES) {
      // nobody listens (the upgrade waits for something else)
      this.#socket.pause()
    }
  }

  /** Called whenever somebody may have begun to listen */
  tryResume (): void {
    if (this.#waitingBytes === 0 && this.#reader.status === 'open' && this.#reader.readStatus !== 'paused' && this.#socket.isPaused()) {
      this.#socket.resume()
    }
  }

  /** Call back when the waiting data has been handed on and dealt with, or now if none waits */
  whenEmpty (callback: () => void): void {
    if (this.#queued == null) {
      callback()
    } else {
      this.#queued.after(callback)
    }
  }

  /** Hand on what waits for its turn */
  flush (): void {
    this.#queued?.flush()
  }

  /** Forget what waits */
  drop (): void {
    this.#queued?.drop()
    this.#queued = undefined
  }

  get #waitingBytes (): number {
    return this.#reader.readBufferLength + (this.#queued?.byteLength ?? 0)
  }

  #handOnFirst (data: Uint8Array): void {
    this.#isHandedOn = true
    this.#queued = undefined
    this.#reader.onRead(data)
    // held back while it waited for its turn
    this.tryResume()
  }
}
