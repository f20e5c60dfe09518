import type { MessageStream, StreamMessageEvent, StreamMuxer } from '@libp2p/interface'

/**
 * - `unowned`: nobody listens for the streams of the muxer, and no data has come
 * - `paused`: nobody listens, and the data waits in the connection
 * - `owned`: somebody listens, or opens streams
 */
type State = 'unowned' | 'paused' | 'owned'

/**
 * Holds back the data of a peer until the owner of the muxer listens for streams.
 * libp2p awaits a connection gater before it listens, and js-yamux gives up the
 * connection if eleven streams come before that.
 *
 * The connection is paused only if data comes in that time. Its read buffer then bounds
 * what is kept, and the peer waits.
 */
export class EarlyListener {
  readonly muxer: StreamMuxer
  readonly #connection: MessageStream
  #state: State = 'unowned'

  constructor (connection: MessageStream, createMuxer: () => StreamMuxer) {
    this.#connection = connection
    // registered before the muxer listens, so that this is called first
    connection.addEventListener('message', this)

    const muxer = this.muxer = createMuxer()
    // not bound: it stays with the muxer
    const { addEventListener } = muxer

    muxer.addEventListener = (type: any, ...rest: [any, any?]): void => {
      if (type === 'stream') {
        // V8 would make a dictionary of an object that loses a property: 1.6 KiB
        muxer.addEventListener = addEventListener
        this.release()
      }

      addEventListener.call(muxer, type, ...rest)
    }
  }

  /** The muxer has an owner: deliver the data that waits, and all that comes from now on */
  release (): void {
    if (this.#state === 'owned') {
      return
    }

    const connection = this.#connection

    if (this.#state === 'paused') {
      // the constructor of the owner must finish first
      queueMicrotask(() => {
        this.#try(() => { connection.resume() })
      })
    }

    this.#state = 'owned'
    connection.removeEventListener('message', this)
  }

  /** A message of the peer. The object listens, since a function would take memory for each connection */
  handleEvent (event: StreamMessageEvent): void {
    const connection = this.#connection

    event.stopImmediatePropagation()
    this.#state = 'paused'
    this.#try(() => { connection.pause() })
    this.#try(() => { connection.unshift(event.data) })
  }

  /** Whatever is below may have ended: then there is no peer to hold back, and what it sent is delivered all the same */
  #try (action: () => void): void {
    try {
      action()
    } catch (err) {
      this.#connection.log('could not hold back early data - %e', err)
    }
  }
}
