import { raceSignal } from 'race-signal'
import type { AbortOptions, NewStreamOptions, Stream, StreamMuxer } from '@libp2p/interface'

/** libp2p's defaults for the streams that one connection has open for a protocol */
const MAX_INBOUND_STREAMS = 32
const MAX_OUTBOUND_STREAMS = 64

/** How long the peer may take to close a stream after us, in ms: libp2p gives a connection as long */
const PEER_CLOSE_TIMEOUT = 1_000

// One for all connections: an empty WeakMap takes more memory than the rest of an idle `OutboundStreams`

/** The protocol that is negotiated on a stream. libp2p sets `stream.protocol` only after that */
const protocols = new WeakMap<Stream, string>()

/** Streams whose protocol was proposed: their FIN waits for the reply */
const proposed = new WeakSet<Stream>()

export type StreamLimitOptions = AbortOptions & Pick<NewStreamOptions, 'maxOutboundStreams'>

/** The part of libp2p's registrar that is used */
export interface HandlerLimits {
  getHandler(protocol: string): { options: { maxInboundStreams?: number, maxOutboundStreams?: number } }
}

/**
 * Counts the streams that were opened on a muxer, by protocol. Decides whether one more
 * can be proposed without exceeding libp2p's limits at either end.
 *
 * libp2p counts a stream after its negotiation. Streams that were closed before end during that
 * round trip. A proposed stream counts at once, so it waits for them: always for their FIN, and
 * at a limit also for the peer's FIN.
 */
export class OutboundStreams {
  readonly #muxer: StreamMuxer
  readonly #handlers: () => HandlerLimits | undefined

  /** By protocol: how many are about to be opened */
  readonly #reserved = new Map<string, number>()

  /** Protocols whose streams stay open although this end has closed them */
  #lasting?: Set<string>

  /** By protocol: resolves when the last stream in the queue has its place */
  #queues?: Map<string, Promise<void>>

  /** Resolves when the next stream has ended or has sent its FIN */
  #ended = Promise.withResolvers<void>()

  constructor (muxer: StreamMuxer, handlers: () => HandlerLimits | undefined) {
    this.#muxer = muxer
    this.#handlers = handlers
  }

  /** @returns whether a place was reserved for one more stream. If not, see {@link room} */
  tryReserve (protocol: string, options: StreamLimitOptions): boolean {
    return this.#queues?.has(protocol) !== true && this.#reserve(protocol, options)
  }

  /**
   * Wait until streams of the protocol that this end has closed have ended, and reserve a
   * place. Streams that stay open are not waited for.
   *
   * @returns whether a place was reserved
   * @throws {unknown} the signal's reason, if it fires before
   */
  async room (protocol: string, options: StreamLimitOptions): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const queues = this.#queues ??= new Map()
    const previous = queues.get(protocol)

    queues.set(protocol, promise)

    try {
      await raceSignal(previous, options.signal)

      while (!this.#reserve(protocol, options)) {
        if (!await this.#end(protocol, options.signal)) {
          return false
        }
      }

      return true
    } finally {
      resolve()

      if (queues.get(protocol) === promise) {
        queues.delete(protocol)
      }
    }
  }

  /** Give a reserved place back: the stream was opened and counts itself, or was not opened */
  release (protocol: string): void {
    const reserved = (this.#reserved.get(protocol) ?? 0) - 1

    if (reserved > 0) {
      this.#reserved.set(protocol, reserved)
    } else {
      this.#reserved.delete(protocol)
    }
  }

  opened (stream: Stream, protocol: string): void {
    protocols.set(stream, protocol)
    stream.addEventListener('close', () => { this.ended() }, { once: true })
  }

  proposed (stream: Stream): void {
    proposed.add(stream)
  }

  /** The FIN of a stream was sent, or the stream is closed */
  ended (): void {
    this.#ended.resolve()
    this.#ended = Promise.withResolvers()
  }

  #reserve (protocol: string, options: StreamLimitOptions): boolean {
    const streams = this.#streamsOf(protocol)
    const reserved = this.#reserved.get(protocol) ?? 0

    if (streams.some(stream => this.#isHeld(stream)) || streams.length + reserved >= this.#limit(protocol, options)) {
      return false
    }

    this.#reserved.set(protocol, reserved + 1)
    this.#lasting?.delete(protocol)

    return true
  }

  /** Closed at this end, while its FIN waits for the reply */
  #isHeld (stream: Stream): boolean {
    return stream.writeStatus === 'closing' && proposed.has(stream)
  }

  /**
   * Wait for the end of a stream that this end has closed
   *
   * @returns whether a stream ended; false if none is worth waiting for, or the time is over
   */
  async #end (protocol: string, signal?: AbortSignal): Promise<boolean> {
    const closing = this.#streamsOf(protocol).filter(({ writeStatus }) => writeStatus !== 'writable')
    const isHeld = closing.some(stream => this.#isHeld(stream))

    if (closing.length === 0 || (!isHeld && this.#lasting?.has(protocol) === true)) {
      return false
    }

    const timeout = Promise.withResolvers<boolean>()
    // proposals have a timeout of their own
    const timer = isHeld ? undefined : setTimeout(() => { timeout.resolve(false) }, PEER_CLOSE_TIMEOUT).unref()

    try {
      const hasEnded = await raceSignal(Promise.race([this.#ended.promise.then(() => true), timeout.promise]), signal)

      if (!hasEnded) {
        this.#lasting = (this.#lasting ?? new Set()).add(protocol)
      }

      return hasEnded
    } finally {
      clearTimeout(timer)
    }
  }

  #streamsOf (protocol: string): Stream[] {
    return this.#muxer.streams.filter(stream => {
      return stream.direction === 'outbound' && (stream.protocol !== '' ? stream.protocol : protocols.get(stream)) === protocol
    })
  }

  /** The lower of our limit, as libp2p finds it, and the peer's. The peer's is assumed to be libp2p's default, or that of our own handler if that is lower */
  #limit (protocol: string, { maxOutboundStreams = MAX_OUTBOUND_STREAMS }: StreamLimitOptions): number {
    let handler: { maxInboundStreams?: number, maxOutboundStreams?: number } = {}

    try {
      handler = this.#handlers()?.getHandler(protocol).options ?? {}
    } catch {
      // nobody handles it here
    }

    return Math.min(
      handler.maxOutboundStreams ?? maxOutboundStreams,
      handler.maxInboundStreams ?? MAX_INBOUND_STREAMS,
      MAX_INBOUND_STREAMS
    )
  }
}
