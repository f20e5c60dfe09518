import { hasMembers } from '../../foreign/check.ts'
import { StreamGate } from './early-stream-limit.ts'
import type { Connection } from '@libp2p/interface'

/** Errors of `newStream` that show an answer of the peer */
const ANSWERS = ['UnsupportedProtocolError', 'StreamResetError']

/** Connections that have a gate. Key: the `streams` array, the only object a connection shares with its muxer */
const gated = new WeakSet<object>()

/** Called by a muxer that limits its early streams itself */
export function setGated (streams: object): void {
  gated.add(streams)
}

/**
 * Lets a connection open only as many streams at once as a js-libp2p peer takes before it
 * is ready: see {@link StreamGate}. Otherwise a dialer that batches its writes could make the
 * peer read more of them before it listens for streams, and the peer would lose them all.
 */
export function gateNewStreams (connection: Connection): void {
  const newStream = connection.newStream

  if (!hasMembers('connection', connection) || gated.has(connection.streams)) {
    return
  }

  setGated(connection.streams)

  const gate = new StreamGate(connection)

  connection.newStream = async (protocols, options) => {
    if (!gate.tryEnter()) {
      await gate.enter(options?.signal)
    }

    try {
      const stream = await newStream.call(connection, protocols, options)
      gate.answered()

      return stream
    } catch (err: any) {
      if (ANSWERS.includes(err?.name)) {
        gate.answered()
      } else {
        gate.abandoned()
      }

      throw err
    }
  }
}
