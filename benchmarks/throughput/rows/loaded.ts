import { patternOf } from './messages.ts'
import { answer, roundTrips } from './round-trip.ts'
import { KiB } from './row.ts'
import type { Session, TimedRow } from './row.ts'
import type { Channel } from '../../../test/lab/peers/contender.ts'

/** Unlike the first byte of what is echoed */
const LOAD = new Uint8Array(64 * KiB).fill(0xff)

const message = patternOf(100)
const loads = new WeakMap<Session, Channel>()

/**
 * How long a small message waits behind large ones: those go on another stream
 * of the connection, or where there are no streams on another connection.
 */
export const loaded: TimedRow = {
  name: 'loaded',
  title: '100 B round trip while another stream sends at full speed',
  levels: ['connection', 'stream'],
  batch: 20,
  extra: true,

  serve (channel) {
    channel.onBytes = first => {
      const [byte] = first instanceof Uint8Array ? first : first.subarray(0, 1)

      if (byte === LOAD[0]) {
        channel.onBytes = () => {}
      } else {
        answer(channel, message)
        channel.onBytes(first)
      }
    }
  },

  async run (session, count) {
    const load = loads.get(session) ?? await openLoad(session)
    loads.set(session, load)
    load.onDrain = () => {
      while (load.send(LOAD)) {
        // until it wants to drain
      }
    }
    load.onDrain()

    try {
      await roundTrips(session.channel, message, count)
    } finally {
      load.onDrain = () => {}
    }
  }
}

async function openLoad ({ peer, address, connection, channel }: Session): Promise<Channel> {
  const load = await connection.open()

  return load === channel ? (await peer.dial(address)).open() : load
}
