import type { FilterableStream } from './filterable-stream.ts'

/** A listener of one of these hears how the peer ends the stream */
const ENDS = ['remoteCloseWrite', 'end']

/**
 * Keeps that the peer has ended the stream until `close()` has settled, and a turn longer. Without a proposal
 * `close()` takes microtasks, so whoever listens or reads once it has settled is in time. With one it
 * takes as long as the reply, and the end may come with that. `onEnd` is called when the connection
 * ends in order, before the stream is told.
 */
export function keepEnd (stream: FilterableStream, closed: Promise<void>, onEnd: () => void): void {
  const { onRemoteCloseWrite, onTransportClosed } = stream
  let hasFin = false
  let hasEnded = false

  const keepFin = (): void => {
    if (ENDS.some(type => stream.listenerCount(type) > 0)) {
      onRemoteCloseWrite.call(stream)
    } else {
      hasFin = true
    }
  }
  const keepTransportClosed = (err?: Error): void => {
    if (err != null) {
      tell()
      onTransportClosed.call(stream, err)
    } else {
      hasEnded = true
      onEnd()
    }
  }
  const tell = (): void => {
    // somebody else may have built on them
    if (stream.onRemoteCloseWrite === keepFin) {
      Reflect.deleteProperty(stream, 'onRemoteCloseWrite')
    }

    if (stream.onTransportClosed === keepTransportClosed) {
      Reflect.deleteProperty(stream, 'onTransportClosed')
    }

    if (hasFin) {
      onRemoteCloseWrite.call(stream)
    }

    if (hasEnded) {
      onTransportClosed.call(stream)
    }
  }

  stream.onRemoteCloseWrite = keepFin
  stream.onTransportClosed = keepTransportClosed
  closed.then(() => { setImmediate(tell) }, tell)
}
