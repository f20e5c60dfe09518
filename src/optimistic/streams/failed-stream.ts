import { hasMembers } from '../../foreign/check.ts'
import type { Connection, MessageStream } from '@libp2p/interface'

const failures = new WeakMap<MessageStream, Error>()

/** Those that `newStream` has resolved with */
const given = new WeakSet<MessageStream>()

/**
 * Makes every later use of a stream report why the proposal of its protocol failed.
 * Otherwise `send` would only report the state of the stream, and a late reader would see an
 * empty answer.
 */
export function failStream (stream: MessageStream, error: Error): void {
  failures.set(stream, error)
  stream[Symbol.asyncIterator] = () => failed(error)

  // a connection is closed by its owner as usual
  if ('sendCloseWrite' in stream) {
    stream.send = () => { throw error }
    // not async: that would make another promise, which nobody handles
    stream.close = () => handled(Promise.reject(error))
  }
}

/** Whether the caller of `newStream` has the stream. Not known of one that a middleware of libp2p has wrapped */
export function isGiven (stream: MessageStream): boolean {
  return given.has(stream)
}

/**
 * Makes `newStream` of a connection reject if the proposal failed while libp2p was still
 * working on the stream, as it does if libp2p's own negotiation fails.
 */
export function rejectFailedStreams (connection: Connection): void {
  if (!hasMembers('connection', connection)) {
    return
  }

  const newStream = connection.newStream

  connection.newStream = async (protocols, options) => {
    const stream = await newStream.call(connection, protocols, options)
    const failure = failures.get(stream)

    if (failure != null) {
      throw failure
    }

    given.add(stream)

    return stream
  }
}

/**
 * Keeps an unhandled rejection of the promise from ending the process. With libp2p's own
 * negotiation the promise would not reject, so applications may ignore it.
 */
export function handled <T> (promise: Promise<T>): Promise<T> {
  promise.catch(() => {})

  return promise
}

async function * failed (error: Error): AsyncGenerator<never> {
  yield await Promise.reject(error)
}
