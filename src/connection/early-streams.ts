import { INBOUND_UPGRADE_TIMEOUT, MAX_EARLY_STREAMS } from '../libp2p.ts'
import type { Stream } from '@libp2p/interface'

/**
 * Holds back what a dialed connection sends right after the dial, where that opens many streams. A muxer of libp2p keeps ten
 * streams until its owner listens for them, and ends all at the eleventh. So with more than ten streams only ten
 * messages leave, each of which opens a stream at most. The next wait until the peer has answered a stream, which it does
 * once it listens. TLS makes one message of several frames: with it more streams leave at once.
 */
export class EarlyStreams {
  readonly #streams: readonly Stream[]
  readonly #release: () => void
  #sent = 0

  /** The streams that the peer has been sent. Exists while messages wait */
  #asked?: Stream[]
  #timer?: NodeJS.Timeout
  #check?: NodeJS.Immediate

  /** `release` is called once when nothing has to wait any more */
  constructor (streams: readonly Stream[], release: () => void) {
    this.#streams = streams
    this.#release = release
  }

  /** Whether the next message has to wait */
  holds (): boolean {
    if (this.#asked == null && this.#streams.length > MAX_EARLY_STREAMS && this.#sent >= MAX_EARLY_STREAMS && !this.#streams.some(isAnswered)) {
      this.#asked = this.#streams.slice(0, MAX_EARLY_STREAMS)
      this.#timer = setTimeout(this.#release, INBOUND_UPGRADE_TIMEOUT).unref()
    }

    return this.#asked != null
  }

  onSent (): void {
    this.#sent++
  }

  /** Whose stream it is learns of an answer in a microtask. The stream may have ended when others are opened */
  onReceived (): void {
    this.#check ??= setImmediate(() => {
      this.#check = undefined

      if (this.#streams.some(isAnswered) || this.#asked?.every(({ status }) => status !== 'open') === true) {
        this.#release()
      }
    })
  }

  end (): void {
    clearTimeout(this.#timer)
    clearImmediate(this.#check)
  }
}

/** A peer that opens a stream listens for streams too */
function isAnswered ({ direction, protocol }: Stream): boolean {
  return direction === 'inbound' || protocol !== ''
}
