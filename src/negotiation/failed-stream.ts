import type { Connection, MessageStream } from '@libp2p/interface'

const failures = new WeakMap<MessageStream, Error>()

/**
 * Make every later use of a stream report why the proposal of its protocol failed.
 * Otherwise `send` would report the state of the stream only, and a late reader would
 * take it for an empty answer.
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

/** Why the proposal on a stream failed */
export function failureOf (stream: MessageStream): Error | undefined {
  return failures.get(stream)
}

/**
 * Make `newStream` of a connection reject if the proposal failed while libp2p was still
 * working on the stream. It does so too if its own negotiation fails.
 */
export function rejectFailedStreams (connection: Connection): void {
  const newStream = connection.newStream

  connection.newStream = async (protocols, options) => {
    const stream = await newStream.call(connection, protocols, options)
    const failure = failures.get(stream)

    if (failure != null) {
      throw failure
    }

    return stream
  }
}

/**
 * A promise whose rejection ends no process if nobody handles it. With libp2p's own
 * negotiation it would not reject, so applications may ignore it.
 */
export function handled <T> (promise: Promise<T>): Promise<T> {
  promise.catch(() => {})

  return promise
}

async function * failed (error: Error): AsyncGenerator<never> {
  yield await Promise.reject(error)
}
