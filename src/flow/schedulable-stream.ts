import { hasMembers } from '../foreign/check.ts'
import { FOREIGN } from '../foreign/list.ts'
import type { Stream } from '@libp2p/interface'
import type { SendResult } from '@libp2p/utils'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * A stream whose data passes through public methods, as it does in all that extend
 * AbstractStream of `@libp2p/utils`. They are not part of the interface, so they are looked for
 * before they are used.
 */
export interface SchedulableStream extends Stream {
  /** Hands data to the muxer, at once and as much as it takes */
  sendData(data: Uint8ArrayList): SendResult

  /** Sends what waits, until the muxer takes no more */
  processSendQueue(): boolean

  /** The muxer tells all of its streams that the connection is full */
  onMuxerNeedsDrain(): void

  /** The muxer tells all of its streams that the connection has drained */
  onMuxerDrain(): void
}

export function isSchedulable (stream: Stream): stream is SchedulableStream {
  return hasMembers('sendingStream', stream) && !FOREIGN.sendingStream.replaces.some(method => Object.hasOwn(stream, method))
}
