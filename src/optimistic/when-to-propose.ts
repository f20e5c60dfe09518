import { isAtLimit } from './protocol-limit.ts'
import type { HandlerLimits } from './protocol-limit.ts'
import type { CreateStreamOptions, NewStreamOptions, Stream } from '@libp2p/interface'

/** libp2p passes all options of `newStream` on to the muxer */
export type CreateOptions = CreateStreamOptions & Pick<NewStreamOptions, 'negotiateFully' | 'maxOutboundStreams'>

/** Why the protocol of a stream is proposed, or negotiated in full. For the log */
export const REASONS = {
  asked: 'presume %s: the caller vouches for it',
  known: 'presume %s: the peer is known to speak it',
  limit: 'negotiate %s in full: one more stream may be too many for the peer',
  unknown: 'negotiate %s in full: the peer is not known to speak it',
  told: 'negotiate %s in full: the caller wants it',
  several: 'negotiate in full: there are several protocols'
}

export type Reason = keyof typeof REASONS

export interface PeerKnowledge {
  /** The streams of the connection */
  streams: Stream[]

  /** Whether the peer is known to speak the protocol */
  isKnown(protocol: string): boolean
  handlers(): HandlerLimits | undefined
}

/**
 * A protocol is proposed if the caller names one, and either passes `negotiateFully: false` or the
 * peer is known to speak it. It is never a guess: a peer that refuses may read what the application
 * wrote as further proposals (go-multistream#20).
 */
export function reasonFor (options: CreateOptions, { handlers, isKnown, streams }: PeerKnowledge): Reason {
  const { protocol, negotiateFully } = options

  if (protocol == null) {
    return 'several'
  }

  if (negotiateFully === true) {
    return 'told'
  }

  if (negotiateFully !== false && !isKnown(protocol)) {
    return 'unknown'
  }

  if (isAtLimit(streams, protocol, handlers(), options)) {
    return 'limit'
  }

  return negotiateFully === false ? 'asked' : 'known'
}

export function isProposed (reason: Reason): boolean {
  return reason === 'asked' || reason === 'known'
}
