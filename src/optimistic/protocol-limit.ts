import { DEFAULT_MAX_INBOUND_STREAMS, DEFAULT_MAX_OUTBOUND_STREAMS } from '../libp2p.ts'
import type { NewStreamOptions, Stream } from '@libp2p/interface'

export type StreamLimitOptions = Pick<NewStreamOptions, 'maxOutboundStreams'>

/** The part of libp2p's registrar that is used */
export interface HandlerLimits {
  getHandler(protocol: string): { options: { maxInboundStreams?: number, maxOutboundStreams?: number } }
}

/**
 * Whether one more stream of the protocol may be too many for libp2p at either end.
 *
 * libp2p counts a stream when its protocol is agreed on. Streams that were closed before have
 * ended by then if it is negotiated in full, and may not have if it is proposed.
 */
export function isAtLimit (streams: Stream[], protocol: string, handlers: HandlerLimits | undefined, options: StreamLimitOptions): boolean {
  const limit = limitOf(protocol, handlers, options)
  let count = 0

  for (const stream of streams) {
    if (stream.direction === 'outbound' && stream.protocol === protocol && ++count >= limit) {
      return true
    }
  }

  return limit < 1
}

/**
 * The lower of our limit, as libp2p finds it, and the peer's. The peer's is assumed to be
 * libp2p's default, or that of our own handler if that is lower.
 */
function limitOf (protocol: string, handlers: HandlerLimits | undefined, { maxOutboundStreams = DEFAULT_MAX_OUTBOUND_STREAMS }: StreamLimitOptions): number {
  let handler: { maxInboundStreams?: number, maxOutboundStreams?: number } = {}

  try {
    handler = handlers?.getHandler(protocol).options ?? {}
  } catch {
    // nobody handles it here
  }

  return Math.min(
    handler.maxOutboundStreams ?? maxOutboundStreams,
    handler.maxInboundStreams ?? DEFAULT_MAX_INBOUND_STREAMS,
    DEFAULT_MAX_INBOUND_STREAMS
  )
}
