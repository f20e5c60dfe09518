import { FirstMessageCheck, patternOf } from './messages.ts'
import { sendAll } from './send-all.ts'
import type { Row } from './row.ts'
import type { Channel } from '../../../test/lab/peers/contender.ts'

type RoundTripInit = Pick<Row, 'name' | 'title' | 'bytes' | 'published' | 'extra'>

/**
 * A message there, and when all of it has arrived one of the same size back. One
 * message is under way at a time.
 */
export function roundTripRow (init: RoundTripInit): Row {
  const message = patternOf(init.bytes)

  return {
    ...init,
    levels: ['connection', 'stream'],
    keepsConnection: true,
    serve: channel => { answer(channel, message) },
    run: async ({ channel }, count, onOperation) => roundTrips(channel, message, count, onOperation)
  }
}

/**
 * Answers every message with the same message. It is not put together from what
 * arrived: that would measure the application.
 */
export function answer (channel: Channel, message: Uint8Array): void {
  const check = new FirstMessageCheck(message)
  let received = 0

  channel.onBytes = bytes => {
    check.see(bytes)
    received += bytes.byteLength

    if (received >= message.byteLength) {
      received -= message.byteLength
      sendAll(channel, 1, () => message)
    }
  }
}

export async function roundTrips (channel: Channel, message: Uint8Array, count: number, onOperation: () => void): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const check = new FirstMessageCheck(message)
  let received = 0
  let done = 0

  channel.onBytes = bytes => {
    check.see(bytes)
    received += bytes.byteLength

    if (received < message.byteLength) {
      return
    }

    received -= message.byteLength
    done++
    onOperation()

    if (done === count) {
      resolve()
    } else {
      sendAll(channel, 1, () => message)
    }
  }
  sendAll(channel, 1, () => message)

  await promise
}
