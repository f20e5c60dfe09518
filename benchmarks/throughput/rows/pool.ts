import { patternOf } from './messages.ts'
import { answer, roundTrips } from './round-trip.ts'
import { KiB } from './row.ts'
import type { Row } from './row.ts'

const message = patternOf(KiB)

/**
 * What a pool of connections is for: the connection is there. Each round trip has
 * a stream of its own, opened and closed for it; a bare connection has none, so
 * that it is used as it is.
 */
export const poolReuse: Row = {
  name: 'pool-reuse',
  title: 'pool reuse: 1 KiB round trip on the live connection, each on a new stream',
  bytes: KiB,
  levels: ['connection', 'stream'],
  keepsConnection: true,
  published: { operationsPerSecond: 46_163 },
  serve: channel => { answer(channel, message) },

  async run ({ connection }, count, onOperation) {
    for (let i = 0; i < count; i++) {
      const channel = await connection.open()
      await roundTrips(channel, message, 1, () => {})
      await channel.close()
      onOperation()
    }
  }
}

/** The same without a pool: dial, handshakes, stream, round trip, close. */
export const newDial: Row = {
  name: 'new-dial',
  title: 'no pool: dial, 1 KiB round trip, close',
  bytes: KiB,
  levels: ['connection', 'stream'],
  keepsConnection: false,
  // every dial takes a port for a second or more
  maxOperations: 5_000,
  published: {},
  serve: channel => { answer(channel, message) },

  async run ({ peer, address }, count, onOperation) {
    for (let i = 0; i < count; i++) {
      const connection = await peer.dial(address)
      const channel = await connection.open()
      await roundTrips(channel, message, 1, () => {})
      await channel.close()
      await connection.close()
      onOperation()
    }
  }
}
