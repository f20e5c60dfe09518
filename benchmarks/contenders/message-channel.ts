import type { Bytes, Channel } from './contender.ts'
import type { MessageStream } from '@libp2p/interface'

/**
 * A libp2p connection or stream as a channel.
 *
 * It listens for 'drain' itself: `onDrain()` of `@libp2p/utils` resolves at once
 * from its second use on.
 */
export class MessageChannel implements Channel {
  readonly #stream: MessageStream
  readonly #close: () => Promise<void>

  constructor (stream: MessageStream, close: () => Promise<void>) {
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

  async close (): Promise<void> {
    return this.#close()
  }
}
