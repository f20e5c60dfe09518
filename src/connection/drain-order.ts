import type { Stream } from '@libp2p/interface'

/** A stream with less to send than this goes first, in bytes: a quarter of what the socket takes each time it has drained */
const SMALL_BYTES = 16 * 1024

/**
 * The order in which a muxer tells its streams that the connection has drained. A muxer of libp2p goes through the array that
 * `connection.streams` is, so the first streams fill the connection again, and the others find it full. A stream opened
 * after a busy one then never sends its second message, libp2p's ping among them, and libp2p gives up the connection
 * (js-libp2p#3463, #3504).
 *
 * Here streams with little to send go first, the least first, those with nothing last, and the others in turn.
 */
export class DrainOrder {
  readonly #streams: Stream[]

  /** `streams` are those of the muxer: the array itself */
  constructor (streams: Stream[]) {
    this.#streams = streams
  }

  /** The connection has drained, and the muxer is about to be told */
  next (): void {
    const small: Stream[] = []
    const large: Stream[] = []
    const idle: Stream[] = []

    for (const stream of this.#streams) {
      const { writeBufferLength: bytes } = stream

      if (bytes === 0) {
        idle.push(stream)
      } else {
        (bytes < SMALL_BYTES ? small : large).push(stream)
      }
    }

    small.sort((a, b) => a.writeBufferLength - b.writeBufferLength)

    const order = new Map([...small, ...inTurn(large), ...inTurn(idle)].map((stream, index) => [stream, index]))

    this.#streams.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0))
  }
}

/** Each time the next one is the first */
function inTurn (streams: Stream[]): Stream[] {
  return [...streams.slice(1), ...streams.slice(0, 1)]
}
