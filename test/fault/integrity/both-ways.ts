import { pEvent } from 'p-event'
import { collect, payload, sendPolitely, tally } from '../../fixtures/bytes.ts'
import { within } from '../../fixtures/waiting.ts'
import { expectSame } from '../expect-same.ts'
import type { Tally } from '../../fixtures/bytes.ts'
import type { Connection, Stream, StreamCloseEvent, StreamHandler } from '@libp2p/interface'

export const PROTOCOL = '/test/both-ways/1.0.0'

/** Both ends send so many bytes at the same time, each its own */
export interface BothWays {
  handler: StreamHandler
  over(connection: Connection): Promise<void>
}

export function bothWays (bytes: number, timeout: number): BothWays {
  const there = payload(bytes)
  const back = payload(bytes)
  const sent = { there: tally(there), back: tally(back) }

  async function oneEnd (stream: Stream, sending: Uint8Array): Promise<Tally> {
    const received = collect(stream)
    const remoteIsDone = Promise.race([
      pEvent(stream, 'remoteCloseWrite'),
      pEvent<'close', StreamCloseEvent>(stream, 'close').then(({ error }) => {
        throw new Error(`The stream closed after ${received.bytes} of ${bytes} bytes had arrived: ${error?.message}`)
      })
    ])
    remoteIsDone.catch(() => {})

    await sendPolitely(stream, sending)
    // sends FIN behind it
    const closed = stream.close()
    await remoteIsDone
    await closed

    return received.result()
  }

  return {
    handler: async stream => {
      expectSame('On the way there', await oneEnd(stream, back), sent.there)
    },
    over: async connection => {
      const stream = await connection.newStream(PROTOCOL)

      expectSame('On the way back', await within(timeout, 'The exchange', oneEnd(stream, there)), sent.back)
    }
  }
}
