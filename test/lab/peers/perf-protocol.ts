import { pEvent } from 'p-event'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'

/**
 * The protocol of libp2p's specification: the dialer sends the number of bytes that it wants, eight bytes in network order, then its own
 * bytes, and closes its side. The listener reads to the end, sends as many, and closes.
 *
 * @see https://github.com/libp2p/specs/blob/master/perf/perf.md
 */
const PERF = '/perf/1.0.0'

const CHUNK = new Uint8Array(65_536)

/** Limits would show instead of costs */
const PLENTY = 1_000_000

export async function servePerf (node: Libp2p): Promise<void> {
  await node.handle(PERF, async stream => {
    const head = new Uint8Array(8)
    let received = 0

    for await (const data of stream) {
      if (received < head.byteLength) {
        head.set(data.subarray(0, head.byteLength - received), received)
      }

      received += data.byteLength
    }

    await sendBytes(stream, Number(new DataView(head.buffer).getBigUint64(0)))
    await stream.close()
  }, { maxInboundStreams: PLENTY, maxOutboundStreams: PLENTY })
}

/**
 * Uploads, downloads, and resolves with the ms that both took together. `options` are those of `newStream`.
 *
 * @throws {Error} if another number of bytes came
 */
export async function runPerf (connection: Connection, upload: number, download: number, options: object = {}): Promise<number> {
  const start = performance.now()
  const stream = await connection.newStream(PERF, { maxOutboundStreams: PLENTY, ...options })
  const head = new Uint8Array(8)
  let received = 0

  new DataView(head.buffer).setBigUint64(0, BigInt(download))
  const ended = new Promise<void>((resolve, reject) => {
    stream.addEventListener('message', ({ data }) => { received += data.byteLength })
    stream.addEventListener('remoteCloseWrite', () => { resolve() })
    stream.addEventListener('close', ({ error }) => {
      if (error != null) {
        reject(error)
      }
    })
  })

  stream.send(head)
  await Promise.all([
    sendBytes(stream, upload).then(async () => stream.close()),
    ended
  ])

  if (received !== download) {
    throw new Error(`${received} bytes came in place of ${download}`)
  }

  return performance.now() - start
}

async function sendBytes (stream: Stream, count: number): Promise<void> {
  for (let left = count; left > 0; left -= CHUNK.byteLength) {
    if (!stream.send(left < CHUNK.byteLength ? CHUNK.subarray(0, left) : CHUNK)) {
      // official streams' onDrain() resolves at once from its second use on: all would be queued
      await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
    }
  }
}
