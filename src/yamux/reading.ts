import { Decoder } from './decoder.ts'
import { Flag } from './frames.ts'
import type { DecoderListener, Frame } from './decoder.ts'
import type { Logger, MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface ReadingInit extends DecoderListener {
  connection: Pick<MessageStream, 'pause' | 'resume'>
  log: Logger

  /** Whether somebody listens for streams already */
  isOwned: boolean

  /** Whether frames are of no use any more */
  isOver(): boolean

  /** @throws {Error} if the peer may not send it */
  onFrame(frame: Frame): void

  /** The peer may not have sent what was held */
  onFailed(err: Error): void
}

/**
 * Reads the frames of a connection. The first stream waits until somebody listens for streams, and all that comes
 * behind it: libp2p awaits a connection gater first, and js-yamux gives up the connection if eleven streams come
 * before. The peer waits, too, and the read buffer of the connection bounds what it has sent.
 */
export class Reading {
  readonly #init: ReadingInit
  readonly #decoder: Decoder
  #isOwned: boolean

  /** What came first while nobody listened: all else waits in the connection */
  #held?: Frame

  constructor (init: ReadingInit) {
    this.#init = init
    this.#decoder = new Decoder(init)
    this.#isOwned = init.isOwned
  }

  /** @throws {Error} if the peer may not send this */
  push (data: Uint8Array | Uint8ArrayList): void {
    this.#decoder.push(data)
    this.#read()
  }

  /** Somebody listens for streams, or opens one */
  own (): void {
    const held = this.#held

    this.#isOwned = true
    this.#held = undefined

    if (held == null || this.#init.isOver()) {
      return
    }

    try {
      this.#init.onFrame(held)
      this.#read()
    } catch (err: any) {
      this.#init.onFailed(err)
    }

    this.#tryConnection('resume')
  }

  #read (): void {
    while (this.#held == null && !this.#init.isOver()) {
      const frame = this.#decoder.next()

      if (frame == null) {
        return
      }

      if (!this.#isOwned && frame.streamId !== 0 && (frame.flags & Flag.syn) !== 0) {
        this.#held = frame
        this.#tryConnection('pause')
      } else {
        this.#init.onFrame(frame)
      }
    }
  }

  #tryConnection (action: 'pause' | 'resume'): void {
    try {
      this.#init.connection[action]()
    } catch (err) {
      this.#init.log('could not %s a connection for whose streams nobody listened - %e', action, err)
    }
  }
}
