import { pEvent } from 'p-event'
import { KiB } from '../../fixtures/bytes.ts'
import type { Stream } from '@libp2p/interface'

const CHUNK = new Uint8Array(64 * KiB)

/** Sends until the stream is cut. `onSent` is told of every chunk. */
export async function sendEndlessly (stream: Stream, onSent: (bytes: number) => void = () => {}): Promise<void> {
  try {
    while (stream.status === 'open') {
      const canSendMore = stream.send(CHUNK)
      onSent(CHUNK.byteLength)

      if (!canSendMore) {
        // onDrain() of @libp2p/utils waits only once, after which this would be a loop that no event gets into
        await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
      }
    }
  } catch {
    // which its 'close' tells
  }
}
