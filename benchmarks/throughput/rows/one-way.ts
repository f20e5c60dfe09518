import { FirstMessageCheck, patternOf } from './messages.ts'
import { sendAll } from './send-all.ts'
import type { TimedRow } from './row.ts'
import type { Bytes, Channel } from '../../../test/lab/peers/contender.ts'

type OneWayInit = Pick<TimedRow, 'name' | 'title' | 'levels' | 'batch'> & { bytes: number }

/**
 * The dialer sends and respects backpressure, the listener counts and
 * acknowledges the last byte: the time covers delivery, not just acceptance.
 */
export function sendRow ({ bytes, ...init }: OneWayInit): TimedRow {
  const message = patternOf(bytes)

  return {
    ...init,

    serve (channel) {
      onCommand(channel, (count, rest) => {
        counted(channel, message, count, () => { channel.send(ACKNOWLEDGEMENT) })
        channel.onBytes(rest)
      })
    },

    async run ({ channel }, count) {
      const { promise, resolve } = Promise.withResolvers<void>()

      channel.onBytes = () => { resolve() }
      channel.send(command(count))
      sendAll(channel, count, () => message)

      await promise
    }
  }
}

/** The listener sends when asked to, the dialer counts. */
export function receiveRow ({ bytes, ...init }: OneWayInit): TimedRow {
  const message = patternOf(bytes)

  return {
    ...init,

    serve (channel) {
      onCommand(channel, count => { sendAll(channel, count, () => message) })
    },

    async run ({ channel }, count) {
      const { promise, resolve } = Promise.withResolvers<void>()

      counted(channel, message, count, resolve)
      channel.send(command(count))

      await promise
    }
  }
}

const ACKNOWLEDGEMENT = Uint8Array.of(1)
const COMMAND_BYTES = 4

/** How many messages are to follow or to be sent */
function command (count: number): Uint8Array {
  const bytes = new Uint8Array(COMMAND_BYTES)
  new DataView(bytes.buffer).setUint32(0, count)

  return bytes
}

/**
 * Waits for commands, wherever TCP splits them, and hands over what arrived
 * behind each.
 */
function onCommand (channel: Channel, onCount: (count: number, rest: Bytes) => void): void {
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
function counted (channel: Channel, message: Uint8Array, count: number, onAll: () => void): void {
  const check = new FirstMessageCheck(message)
  const before = channel.onBytes
  let received = 0

  channel.onBytes = bytes => {
    check.see(bytes)
    received += bytes.byteLength

    if (received >= count * message.byteLength) {
      // the next command
      channel.onBytes = before
      onAll()
    }
  }
}
