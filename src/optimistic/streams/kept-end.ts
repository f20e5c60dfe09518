import { restoreOwn } from './filterable-stream.ts'
import type { FilterableStream } from './filterable-stream.ts'

/** A listener of one of these hears how the peer ends the stream */
const ENDS = ['remoteCloseWrite', 'end']

/**
 * Keeps from the stream that the peer has ended it, until a turn after `close()` has settled. So an application
 * misses nothing if it begins to listen or to read after `await stream.close()`. Without a proposal it
 * cannot miss anything, since `close()` does not wait for the peer then.
 *
 * @param stream - that is being closed
 * @param closed - settles with `close()`
 * @param onEnd - is called when the connection ends in order, before the stream is told
 */
export function keepEnd (stream: FilterableStream, closed: Promise<void>, onEnd: () => void): void {
  const { onRemoteCloseWrite, onTransportClosed } = stream

  /** What the stream is told then. Undefined from then on */
  let kept: Array<() => void> | undefined = []

  const keepFin = (): void => {
    if (kept == null || ENDS.some(type => stream.listenerCount(type) > 0)) {
      onRemoteCloseWrite.call(stream)
    } else {
      kept.push(() => { onRemoteCloseWrite.call(stream) })
    }
  }
  const keepTransportClosed = (err?: Error): void => {
    if (kept == null || err != null) {
      tell()
      onTransportClosed.call(stream, err)
    } else {
      kept.push(() => { onTransportClosed.call(stream) })
      onEnd()
    }
  }
  const tell = (): void => {
    const due = kept ?? []

    kept = undefined
    restoreOwn(stream, { onRemoteCloseWrite: keepFin, onTransportClosed: keepTransportClosed })
    due.forEach(tellStream => { tellStream() })
  }

  Object.assign(stream, { onRemoteCloseWrite: keepFin, onTransportClosed: keepTransportClosed })
  closed.then(() => { setImmediate(tell) }, tell)
}
