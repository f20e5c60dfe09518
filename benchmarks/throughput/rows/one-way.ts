import { FirstMessageCheck, patternOf } from './messages.ts'
import { KiB } from './row.ts'
import { sendAll } from './send-all.ts'
import type { Row } from './row.ts'
import type { Bytes, Channel } from '../../../test/lab/peers/contender.ts'

const BYTES = KiB

/**
 * One sample of the latency is taken over this many messages: one alone is
 * handed over in less time than the clock can tell, or waits for many others.
 */
const BATCH = 64

const message = patternOf(BYTES)

/**
 * The dialer sends and respects backpressure, the listener counts and
 * acknowledges the last byte: the time covers delivery, not just acceptance.
 */
export const sendOnly: Row = {
  name: 'send-only',
  title: 'send only: 1 KiB messages, the last one acknowledged',
  bytes: BYTES,
  levels: ['connection', 'stream'],
  keepsConnection: true,
  batch: { messages: BATCH, title: 'accepted' },
  published: { operationsPerSecond: 138_179, overhead: 1.44 },

  serve (channel) {
    onCommand(channel, (count, rest) => {
      counted(channel, count, () => {}, () => { channel.send(ACKNOWLEDGEMENT) })
      channel.onBytes(rest)
    })
  },

  async run ({ channel }, count, onOperation) {
    const { promise, resolve } = Promise.withResolvers<void>()

    channel.onBytes = () => { resolve() }
    channel.send(command(count))
    sendAll(channel, count, () => {
      onOperation()

      return message
    })

    await promise
  }
}

/** The listener sends when asked to, the dialer counts. */
export const receiveOnly: Row = {
  name: 'receive-only',
  title: 'receive only: 1 KiB messages after one request',
  bytes: BYTES,
  levels: ['connection', 'stream'],
  keepsConnection: true,
  batch: { messages: BATCH, title: 'arrived' },
  published: { operationsPerSecond: 137_397, overhead: 1.46 },

  serve (channel) {
    onCommand(channel, count => {
      sendAll(channel, count, () => message)
    })
  },

  async run ({ channel }, count, onOperation) {
    const { promise, resolve } = Promise.withResolvers<void>()

    counted(channel, count, onOperation, resolve)
    channel.send(command(count))

    await promise
  }
}

const ACKNOWLEDGEMENT = Uint8Array.of(1)
const COMMAND_BYTES = 4

/** How many messages are to follow or to be sent. */
export function command (count: number): Uint8Array {
  const bytes = new Uint8Array(COMMAND_BYTES)
  new DataView(bytes.buffer).setUint32(0, count)

  return bytes
}

/**
 * Waits for commands, wherever TCP splits them, and hands over what arrived
 * behind each.
 */
export function onCommand (channel: Channel, onCount: (count: number, rest: Bytes) => void): void {
  let count = 0
  let received = 0

  channel.onBytes = bytes => {
    let used = 0

    for (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
      for (let i = 0; i < part.byteLength && received < COMMAND_BYTES; i++) {
        count = count * 256 + part[i]
        received++
        used++
      }
    }

    if (received === COMMAND_BYTES) {
      const commanded = count
      count = 0
      received = 0
      onCount(commanded, bytes instanceof Uint8Array ? bytes.subarray(used) : bytes.sublist(used))
    }
  }
}

/** Counts bytes up to the end of the last message. */
function counted (channel: Channel, count: number, onMessage: () => void, onAll: () => void): void {
  const check = new FirstMessageCheck(message)
  const before = channel.onBytes
  let received = 0
  let messages = 0

  channel.onBytes = bytes => {
    check.see(bytes)
    received += bytes.byteLength

    while (messages < count && (messages + 1) * BYTES <= received) {
      messages++
      onMessage()
    }

    if (messages === count) {
      // the next command
      channel.onBytes = before
      onAll()
    }
  }
}
