import { FirstMessageCheck, patternOf } from './messages.ts'
import { sendAll } from './send-all.ts'
import type { TimedRow } from './row.ts'
import type { Channel } from '../../../test/lab/peers/contender.ts'

type RoundTripInit = Pick<TimedRow, 'name' | 'title' | 'batch' | 'extra'> & { bytes: number }

/**
 * A message there, and when all of it has arrived one of the same size back. One
 * message is under way at a time.
 */
export function roundTripRow ({ bytes, ...init }: RoundTripInit): TimedRow {
  const message = patternOf(bytes)

  return {
    ...init,
    levels: ['connection', 'stream'],
    serve: channel => { answer(channel, message) },
    run: async ({ channel }, count) => roundTrips(channel, message, count)
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

export async function roundTrips (channel: Channel, message: Uint8Array, count: number): Promise<void> {
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

    if (done === count) {
      resolve()
    } else {
      sendAll(channel, 1, () => message)
    }
  }
  sendAll(channel, 1, () => message)

  await promise
}
