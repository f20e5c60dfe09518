import { Uint8ArrayList } from 'uint8arraylist'
import { areTooMany, withoutWaste } from './chunks.ts'
import type { MessageStream, StreamCloseEvent, StreamMessageEvent } from '@libp2p/interface'

/** The peer is granted nothing more when this much waits for the loop, in bytes */
const PAUSE_BYTES = 128 * 1024

/** It is again when no more than this is left */
const RESUME_BYTES = PAUSE_BYTES / 2

type Data = Uint8Array | Uint8ArrayList

export interface ReadLoopInit {
  stream: MessageStream

  /** What a loop before this one has left */
  rest: Data[]

  /** Whether all has been given that the peer sent before it closed its end */
  isOver(): boolean

  /** Why the stream failed, if it has */
  failure(): Error | undefined

  /** Something has been taken, or has come */
  onChange(): void
}

/**
 * A `for await` loop over a stream. What waits for it counts as unread, so the peer waits for a slow loop.
 *
 * It ends when all has been read that the peer sent before it closed its end. The iterator of
 * the base class ends as soon as the peer has closed its end, and what is paused then is lost.
 */
export class ReadLoop {
  readonly #init: ReadLoopInit
  readonly #queue: Data[]
  #bytes: number

  /** Whether the peer is to wait */
  #isBehind = false

  /** Exists while the loop waits */
  #waiting?: PromiseWithResolvers<void>

  constructor (init: ReadLoopInit) {
    this.#init = init
    this.#queue = init.rest
    this.#bytes = init.rest.reduce((sum, { byteLength }) => sum + byteLength, 0)

    init.stream.addEventListener('message', this.#onMessage)
    init.stream.addEventListener('close', this.#wake)
    init.stream.addEventListener('remoteCloseWrite', this.#wake)
  }

  /** What waits, in bytes */
  get unread (): number {
    return this.#bytes
  }

  /** Whether the peer is to be granted nothing more until the loop has read */
  get isBehind (): boolean {
    return this.#isBehind
  }

  /** Whether the loop has asked for more than there is */
  get isWaiting (): boolean {
    return this.#waiting != null
  }

  /**
   * @returns undefined when there is no more
   * @throws {Error} what ended the stream, once all has been given that came before
   */
  async next (): Promise<Data | undefined> {
    for (;;) {
      const data = this.#queue.shift()

      if (data != null) {
        this.#bytes -= data.byteLength
        this.#isBehind &&= this.#bytes > RESUME_BYTES
        this.#init.onChange()

        return data
      }

      const failure = this.#init.failure()

      if (failure != null) {
        throw failure
      }

      if (this.#init.isOver()) {
        return
      }

      this.#waiting = Promise.withResolvers()
      await this.#waiting.promise
    }
  }

  /** @returns what the loop has not read */
  stop (): Data[] {
    const { stream } = this.#init

    stream.removeEventListener('message', this.#onMessage)
    stream.removeEventListener('close', this.#wake)
    stream.removeEventListener('remoteCloseWrite', this.#wake)

    return this.#queue
  }

  readonly #onMessage = ({ data }: StreamMessageEvent): void => {
    // what a loop takes at once is not kept
    this.#queue.push(this.#queue.length === 0 ? data : withoutWaste(data))
    this.#bytes += data.byteLength

    if (areTooMany(this.#queue.length, this.#bytes)) {
      this.#queue.push(new Uint8ArrayList(...this.#queue.splice(0)).slice())
    }

    this.#isBehind ||= this.#bytes >= PAUSE_BYTES
    this.#wake()
  }

  readonly #wake = (_event?: StreamCloseEvent | Event): void => {
    this.#waiting?.resolve()
    this.#waiting = undefined
  }
}

export type { Data }
