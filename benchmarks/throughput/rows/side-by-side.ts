import { patternOf } from './messages.ts'
import { roundTrips } from './round-trip.ts'
import { sendAll } from './send-all.ts'
import type { Row, Session } from './row.ts'
import type { Channel } from '../../../test/lab/peers/contender.ts'

const STREAMS = 4

/** An application answers when it has looked something up */
const PROMISES = 3

const message = patternOf(100)
const channels = new WeakMap<Session, Channel[]>()

/**
 * Whether what is gathered into fewer writes makes others wait: several requests at
 * a time, each on a stream of its own, whose answers are not ready at once.
 */
export const sideBySide: Row = {
  name: 'side-by-side',
  title: `side by side: 100 B round trips on ${STREAMS} streams at a time, answered after ${PROMISES} promises; p50 and p99 until all are back`,
  bytes: STREAMS * message.byteLength,
  levels: ['stream'],
  keepsConnection: true,
  extra: true,
  published: {},
  serve: channel => { answerLater(channel) },

  async run (session, count, onOperation) {
    const streams = channels.get(session) ?? await openStreams(session)
    channels.set(session, streams)

    for (let i = 0; i < count; i++) {
      await Promise.all(streams.map(async stream => roundTrips(stream, message, 1, () => {})))
      onOperation()
    }
  }
}

async function openStreams ({ connection, channel }: Session): Promise<Channel[]> {
  const others = Array.from({ length: STREAMS - 1 }, async () => connection.open())

  return [channel, ...await Promise.all(others)]
}

function answerLater (channel: Channel): void {
  let received = 0

  channel.onBytes = bytes => {
    received += bytes.byteLength

    while (received >= message.byteLength) {
      received -= message.byteLength
      void promises(PROMISES).then(() => { sendAll(channel, 1, () => message) })
    }
  }
}

async function promises (count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await Promise.resolve()
  }
}
