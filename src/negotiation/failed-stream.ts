import type { Connection, MessageStream } from '@libp2p/interface'

const failures = new WeakMap<MessageStream, Error>()

/**
 * Have everything that an application still does with a stream tell why the proposal
 * of its protocol failed. Otherwise `send` would tell the state of the stream only,
 * and a late reader would take it for an empty answer.
 */
export function failStream (stream: MessageStream, error: Error): void {
  failures.set(stream, error)
  stream[Symbol.asyncIterator] = () => failed(error)

  // a connection is closed by its owner as ever
  if ('sendCloseWrite' in stream) {
    stream.send = () => { throw error }
    // not async: that would be another promise, which nobody has handled
    stream.close = () => handled(Promise.reject(error))
  }
}

/** Why the proposal on a stream failed */
export function failureOf (stream: MessageStream): Error | undefined {
  return failures.get(stream)
}

/**
 * Have `newStream` of a connection reject where the proposal failed while libp2p was
 * still at work on the stream, as it does where the negotiation fails.
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
 * A promise that ends no process if nobody waits for it: with libp2p's own negotiation
 * it would not reject, so applications may leave it alone.
 */
export function handled <T> (promise: Promise<T>): Promise<T> {
  promise.catch(() => {})

  return promise
}

async function * failed (error: Error): AsyncGenerator<never> {
  yield await Promise.reject(error)
}
