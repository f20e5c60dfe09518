import { hasMembers } from '../foreign/check.ts'
import { YAMUX } from '../libp2p.ts'
import type { Stream } from '@libp2p/interface'

/**
 * A stream of a muxer that tells the peer how much it may send, as those of js-yamux are. The
 * methods are not part of the interface, so they are looked for before they are used.
 */
export interface WindowedStream extends Stream {
  /** Tells the peer that it may send more */
  sendWindowUpdate(): void

  /** Goes on to tell the peer that it may send more */
  sendResume(): void
}

/** `multiplexer` is the protocol of the stream's muxer. Only of one that has windows a missing member is worth a warning */
export function isWindowed (stream: Stream, multiplexer?: string): stream is WindowedStream {
  return (multiplexer === YAMUX || 'sendWindowUpdate' in stream) && hasMembers('pausingStream', stream)
}
