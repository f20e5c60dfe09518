import { patternOf } from './messages.ts'
import { answer, roundTrips } from './round-trip.ts'
import { KiB } from './row.ts'
import type { Row, Session } from './row.ts'
import type { Channel } from '../../../test/lab/peers/contender.ts'

/** Unlike the first byte of what is echoed */
const LOAD = new Uint8Array(64 * KiB).fill(0xff)

const message = patternOf(100)
const loads = new WeakMap<Session, Channel>()

/**
 * How long a small message waits behind large ones: those go on another stream
 * of the connection, or where there are no streams on another connection.
 */
export const loaded: Row = {
  name: 'loaded',
  title: 'under load: 100 B round trip while another stream sends at full speed',
  bytes: message.byteLength,
  levels: ['connection', 'stream'],
  keepsConnection: true,
  countable: false,
  minOperations: 20,
  extra: true,
  published: {},

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

  async run (session, count, onOperation) {
    const load = loads.get(session) ?? await openLoad(session)
    loads.set(session, load)
    const stop = sendWithoutEnd(load)

    try {
      await roundTrips(session.channel, message, count, onOperation)
    } finally {
      stop()
    }
  }
}

async function openLoad ({ peer, address, connection, channel }: Session): Promise<Channel> {
  const load = await connection.open()

  return load === channel ? (await peer.dial(address)).open() : load
}

/** @returns a function that stops it */
function sendWithoutEnd (channel: Channel): () => void {
  channel.onDrain = () => {
    while (channel.send(LOAD)) {
      // until it wants to drain
    }
  }
  channel.onDrain()

  return () => { channel.onDrain = () => {} }
}
