import { Incoming, patternOf } from './messages.ts'
import { sendAll } from './send-all.ts'
import type { TimedRow } from './row.ts'
import type { Channel } from '../../../test/lab/peers/contender.ts'

type OneWayInit = Pick<TimedRow, 'name' | 'title' | 'levels' | 'batch'> & { bytes: number }

const SIGN = Uint8Array.of(1)

/**
 * The dialer sends and respects backpressure, the listener counts and
 * acknowledges the last byte: the time covers delivery, not just acceptance.
 */
export function sendRow ({ bytes, ...init }: OneWayInit): TimedRow {
  const message = patternOf(bytes)

  return {
    ...init,
    serve: channel => { onBatch(channel, message, init.batch, () => { channel.send(SIGN) }) },

    async run ({ channel }) {
      const { promise, resolve } = Promise.withResolvers<void>()

      channel.onBytes = () => { resolve() }
      sendAll(channel, init.batch, () => message)

      await promise
    }
  }
}

/** The listener sends when asked to, the dialer counts. */
export function receiveRow ({ bytes, ...init }: OneWayInit): TimedRow {
  const message = patternOf(bytes)

  return {
    ...init,
    serve: channel => { channel.onBytes = () => { sendAll(channel, init.batch, () => message) } },

    async run ({ channel }) {
      const { promise, resolve } = Promise.withResolvers<void>()

      onBatch(channel, message, init.batch, resolve)
      channel.send(SIGN)

      await promise
    }
  }
}

function onBatch (channel: Channel, message: Uint8Array, batch: number, onLast: () => void): void {
  let count = 0
  const incoming = new Incoming(message, 'check first', () => {
    count++

    if (count % batch === 0) {
      onLast()
    }
  })

  channel.onBytes = bytes => { incoming.receive(bytes) }
}
