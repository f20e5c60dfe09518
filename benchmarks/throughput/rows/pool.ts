import { answer, messageOf, roundTrips } from './round-trip.ts'
import { KiB } from './row.ts'
import type { IdleRow, Session, TimedRow } from './row.ts'
import type { Channel } from '../../../test/lab/peers/contender.ts'

const message = messageOf(KiB)

function serve (channel: Channel): void {
  answer(channel, message)
}

/**
 * What a pool of connections is for: the connection is there. Each round trip has
 * a stream of its own, opened and closed for it; a bare connection has none, so
 * that it is used as it is.
 */
export const poolReuse: TimedRow = {
  name: 'pool-reuse',
  title: '1 KiB round trip on a live connection, each on a new stream',
  levels: ['connection', 'stream'],
  batch: 500,
  watchesLoop: true,
  serve,

  async run ({ connection }) {
    for (let i = 0; i < this.batch; i++) {
      const channel = await connection.open()
      await roundTrips(channel, message, 1)
      await channel.close()
    }
  }
}

/** The same without a pool: dial, handshakes, stream, round trip, close */
export const newDial: TimedRow = {
  name: 'new-dial',
  title: 'dial, 1 KiB round trip, close',
  levels: ['connection', 'stream'],
  batch: 50,
  serve,

  async run ({ peer, address }) {
    for (let i = 0; i < this.batch; i++) {
      const connection = await peer.dial(address)
      const channel = await connection.open()
      await roundTrips(channel, message, 1)
      await channel.close()
      await connection.close()
    }
  }
}

const STREAMS = 20
const channels = new WeakMap<Session, Channel[]>()

/** An operation is over when all streams have their answers */
export const streams: TimedRow = {
  name: 'streams',
  title: `${STREAMS} streams, a 1 KiB round trip on each at a time`,
  levels: ['stream'],
  batch: 100,
  serve,

  async run (session) {
    const open = channels.get(session) ?? await Promise.all(Array.from({ length: STREAMS }, async () => session.connection.open()))
    channels.set(session, open)

    for (let i = 0; i < this.batch; i++) {
      await Promise.all(open.map(async channel => roundTrips(channel, message, 1)))
    }
  }
}

/** After a round trip, so that all protocols are agreed on */
export const idleStream: IdleRow = {
  name: 'idle-stream',
  title: 'an idle stream among 500',
  levels: ['stream'],
  idle: 500,
  serve,
  open: async ({ connection }) => roundTrips(await connection.open(), message, 1)
}

export const idleConnection: IdleRow = {
  name: 'idle-connection',
  title: 'an idle connection among 500',
  levels: ['connection', 'stream'],
  idle: 500,
  serve,
  open: async ({ peer, address }) => { await peer.dial(address) }
}
