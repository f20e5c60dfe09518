import { itDeliversAtOnce } from '../fixtures/all-at-once.ts'
import { KiB, MiB, payload, sendAll, tally } from '../fixtures/bytes.ts'
import { rawClient, rawPeer, readSlowly } from '../fixtures/peers.ts'
import { rawTransport } from '../fixtures/raw.ts'
import { isThorough } from '../fixtures/thorough.ts'
import type { SlowReading, SlowReadResult } from '../fixtures/peers.ts'

interface Case extends SlowReading {
  title: string
  size: number
  inbound?: boolean
}

const cases: Case[] = [
  { title: '3 MiB to a reader that sends 12 bytes back every 100 ms', size: 3 * MiB, replyEvery: 100 },
  { title: '3 MiB to a reader that sends 12 bytes back every 300 ms', size: 3 * MiB, replyEvery: 300 },
  { title: '16 MiB to a reader that sends 12 bytes back every 100 ms', size: 16 * MiB, replyEvery: 100 },
  { title: '16 MiB to a reader that sends 12 bytes back every 300 ms', size: 16 * MiB, replyEvery: 300 },
  { title: '3 MiB to a reader that sleeps 2 s, then sends 12 bytes back every 100 ms', size: 3 * MiB, replyEvery: 100, pauseFor: 2_000 },
  { title: '3 MiB to a slow reader that sends nothing', size: 3 * MiB },
  { title: '16 MiB to a slow reader that sends nothing', size: 16 * MiB },
  // longer than any limit of a closed socket whose peer is not silent
  ...isThorough ? [{ title: '3 MiB to a reader of 50 KiB/s that sends nothing', size: 3 * MiB, bytes: 5 * KiB, every: 100 }] : [],
  { title: '3 MiB from the listener to a dialer that sends 12 bytes back every 100 ms', size: 3 * MiB, replyEvery: 100, inbound: true }
]

/**
 * Data that arrives at a closed socket, or lies unread in one, makes the kernel
 * answer with a reset, upon which the reader loses what it has not read
 */
describe('fault 1: everything sent before close() arrives', function () {
  this.timeout(150_000)

  itDeliversAtOnce(cases, async (defer, { size, inbound, ...reading }) => {
    const { dial, listen } = rawTransport(defer)
    const data = payload(size)

    async function connect (): Promise<[Awaited<ReturnType<typeof dial>>, Promise<SlowReadResult>]> {
      if (inbound === true) {
        const { port, next } = await listen()
        const socket = await rawClient(defer, port)

        return [await next(), readSlowly(socket, reading)]
      }

      const { addr, next } = await rawPeer(defer)
      const conn = await dial(addr)

      return [conn, readSlowly(await next(), reading)]
    }

    const [conn, received] = await connect()

    sendAll(conn, data)
    await conn.close()

    return {
      sent: tally(data),
      received: await received
    }
  })
})
