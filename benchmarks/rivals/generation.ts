/**
 * How an application uses streams, which libp2p 3 changed.
 */
export interface Generation {
  /**
   * A protocol handler that sends back what it reads.
   */
  echo(...args: any[]): void

  /**
   * Sends bytes and resolves when the first of them is back.
   */
  roundTrip(stream: any, bytes: Uint8Array): Promise<void>
}

/**
 * libp2p 1 and 2: a stream is a pair of iterables
 */
export const iterableStreams: Generation = {
  echo ({ stream }) {
    stream.sink(stream.source).catch(() => {})
  },

  async roundTrip (stream, bytes) {
    const { promise: answered, resolve } = Promise.withResolvers<void>()

    stream.sink((async function * () {
      yield bytes
      await answered
    })()).catch(() => {})

    try {
      const { done } = await stream.source[Symbol.asyncIterator]().next()

      if (done === true) {
        throw new Error('The stream closed without an answer')
      }
    } finally {
      resolve()
    }
  }
}

/**
 * libp2p 3: a stream is an event target with a `send`
 */
export const messageStreams: Generation = {
  echo (stream) {
    stream.addEventListener('message', (event: any) => { stream.send(event.data) })
    stream.addEventListener('remoteCloseWrite', () => { stream.close().catch(() => {}) })
  },

  async roundTrip (stream, bytes) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()

    stream.addEventListener('message', () => { resolve() }, { once: true })
    stream.addEventListener('close', (event: any) => { reject(event.error ?? new Error('The stream closed without an answer')) }, { once: true })
    stream.send(bytes)

    await promise
  }
}
