import { MAX_UNREAD_BYTES } from '../constants.ts'
import { QueuedHandshake } from '../event-loop/handshake-queue.ts'
import { isReadBudgetSpent, renewReadBudget, spendReadBudget } from '../event-loop/read-budget.ts'
import type { MessageStream, Stream } from '@libp2p/interface'
import type { Socket } from 'node:net'

// a test that replaces it must not stop all connections of the process
const { setImmediate } = globalThis

/** Fills the buffer that Node reads into, in bytes: libuv reads again at once, up to 32 times */
const FULL_CHUNK = 64 * 1024

export interface Reader extends Pick<MessageStream, 'status' | 'readBufferLength'>, Pick<Stream, 'readStatus'> {
  /** Something came: deal with it, or keep it until somebody listens */
  onRead(data: Uint8Array): void
}

/**
 * Hands what a socket reads to the connection: what comes first through the queue of
 * handshakes, and from then on at once. While nobody listens it stops reading, so that
 * the peer waits too.
 *
 * It also stops until the next turn of the event loop where reading has taken too long of
 * this one. Otherwise Node reads 2 MiB before anything else runs. That takes most of a
 * second where they are window updates of a muxer and each makes a stream send.
 */
export class Incoming {
  readonly #socket: Socket
  readonly #reader: Reader

  /** Whether the reader was given something that the peer sent */
  #isHandedOn = false

  /** Exists while what comes first waits for its turn */
  #queued?: QueuedHandshake

  constructor (socket: Socket, reader: Reader) {
    this.#socket = socket
    this.#reader = reader
  }

  add (data: Uint8Array): void {
    const isFull = data.byteLength >= FULL_CHUNK

    if (isFull) {
      spendReadBudget()
    }

    if (this.#isHandedOn) {
      this.#reader.onRead(data)
    } else if (data.byteLength > 0) {
      this.#queued ??= new QueuedHandshake(data => { this.#handOnFirst(data) })
      this.#queued.add(data)
    }

    if (this.#reader.status !== 'open') {
      return
    }

    if (this.#waitingBytes >= MAX_UNREAD_BYTES) {
      // nobody listens (the upgrade waits for something else)
      this.#socket.pause()
    } else if (isFull && isReadBudgetSpent()) {
      this.#socket.pause()
      setImmediate(() => {
        this.tryResume()
        // what Node has read already comes first, and is this turn's; the next one starts anew
        process.nextTick(renewReadBudget)
      })
    }
  }

  /** Called whenever somebody may have begun to listen */
  tryResume (): void {
    if (this.#waitingBytes === 0 && this.#reader.status === 'open' && this.#reader.readStatus !== 'paused' && this.#socket.isPaused()) {
      this.#socket.resume()
    }
  }

  /** Do this when what waits was handed on and has been dealt with, or now where nothing waits */
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
