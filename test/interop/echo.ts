import { randomBytes } from 'node:crypto'
import { pEvent } from 'p-event'
import { Uint8ArrayList } from 'uint8arraylist'
import { equals } from 'uint8arrays/equals'
import type { Stream } from '@libp2p/interface'

export const ECHO_PROTOCOL = '/echo/1.0.0'

/** What is handed to `send` at a time, in bytes */
const CHUNK = 64 * 1024

/**
 * Sends back every byte as it comes and closes its side after the remote has
 * closed its own.
 */
export async function echo (stream: Stream): Promise<void> {
  for await (const data of stream) {
    await send(stream, data)
  }

  await stream.close()
}

/**
 * Sends one byte and waits for it, then sends the rest while reading,
 * half-closes, and compares all that came back until the remote closed its side.
 *
 * @param stream - a new one
 * @param size - how many random bytes, at least 1
 * @param signal - when to give up
 * @returns when the first byte was back, on the clock of `performance.now()`
 * @throws {Error} if the echo differs, or does not end before the signal fires
 */
export async function exchange (stream: Stream, size: number, signal: AbortSignal): Promise<number> {
  const abort = (): void => { stream.abort(new Error('The echo did not end in time')) }
  signal.addEventListener('abort', abort, { once: true })

  try {
    const sent = randomBytes(size)
    const received = new Uint8ArrayList()
    const incoming = stream[Symbol.asyncIterator]()

    stream.send(sent.subarray(0, 1))
    received.append((await incoming.next()).value ?? new Uint8Array())
    const firstByteAt = performance.now()

    await Promise.all([
      sendRest(stream, sent.subarray(1), signal),
      readRest(incoming, received, size)
    ])

    if (!equals(received.subarray(), sent)) {
      throw new Error(`The echo of ${size} bytes came back as ${received.byteLength} bytes that differ`)
    }

    return firstByteAt
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

async function sendRest (stream: Stream, rest: Uint8Array, signal: AbortSignal): Promise<void> {
  for (let offset = 0; offset < rest.byteLength; offset += CHUNK) {
    await send(stream, rest.subarray(offset, offset + CHUNK))
  }

  await stream.close({ signal })
}

async function readRest (incoming: AsyncIterator<Uint8Array | Uint8ArrayList>, received: Uint8ArrayList, size: number): Promise<void> {
  // one byte more than expected is enough to fail the comparison
  while (received.byteLength <= size) {
    const { done, value } = await incoming.next()

    if (done === true) {
      return
    }

    received.append(value)
  }
}

/** By the event, because `onDrain` of `@libp2p/utils` 7 waits only the first time */
async function send (stream: Stream, data: Uint8Array | Uint8ArrayList): Promise<void> {
  if (!stream.send(data)) {
    await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
  }
}
