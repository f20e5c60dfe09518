import { Incoming, patternOf } from './messages.ts'
import { sendAll } from './send-all.ts'
import type { What } from './messages.ts'
import type { TimedRow } from './row.ts'
import type { Channel } from '../../../test/lab/peers/contender.ts'

type RoundTripInit = Pick<TimedRow, 'name' | 'title' | 'batch' | 'extra'> & {
  bytes: number

  /** Sent in parts of so many bytes, and put together at each end */
  chunk?: number
}

/** A message there, and when all of it has arrived one of the same size back */
export interface Message {
  bytes: Uint8Array

  /** What is sent of it at a time */
  parts: Uint8Array[]
  what: What
}

export function messageOf (byteLength: number, chunk?: number): Message {
  const bytes = patternOf(byteLength)
  const parts: Uint8Array[] = []

  for (let start = 0; start < byteLength; start += chunk ?? byteLength) {
    parts.push(bytes.subarray(start, start + (chunk ?? byteLength)))
  }

  return { bytes, parts, what: chunk == null ? 'check first' : 'put together' }
}

/** One message is under way at a time. */
export function roundTripRow ({ bytes, chunk, ...init }: RoundTripInit): TimedRow {
  const message = messageOf(bytes, chunk)

  return {
    ...init,
    levels: ['connection', 'stream'],
    serve: channel => { answer(channel, message) },
    run: async ({ channel }) => roundTrips(channel, message, init.batch)
  }
}

/** Answers every message with the same message. */
export function answer (channel: Channel, message: Message): void {
  const incoming = new Incoming(message.bytes, message.what, () => { send(channel, message) })

  channel.onBytes = bytes => { incoming.receive(bytes) }
}

export async function roundTrips (channel: Channel, message: Message, count: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let done = 0

  const incoming = new Incoming(message.bytes, count === 1 ? 'count' : message.what, () => {
    done++

    if (done === count) {
      resolve()
    } else {
      send(channel, message)
    }
  })

  channel.onBytes = bytes => { incoming.receive(bytes) }
  send(channel, message)

  await promise
}

function send (channel: Channel, { parts }: Message): void {
  sendAll(channel, parts.length, index => parts[index])
}
