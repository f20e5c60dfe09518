import { mock } from 'node:test'
import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { YamuxSender } from '../../src/flow/yamux-sender.ts'
import { KiB, MiB } from '../fixtures/bytes.ts'
import type { MessageStream } from '@libp2p/interface'

const FRAME = new Uint8Array(16 * KiB)
const PING = new Uint8Array(12)

interface Line {
  /** What arrives, in bytes a tick */
  rate: number

  /** How many ticks an answer takes besides */
  roundTrip: number

  /** What the socket takes before it says that it is full, in bytes */
  socket: number

  /** A tick in which the event loop is late, and for how long, in ms */
  stalls: Array<[number, number]>

  /** The round trip, if it was measured before, in ms */
  measured?: number
}

/**
 * A muxer that uploads by a sender over a socket: it goes on when 'drain' says so, as those of js-libp2p do.
 * A tick takes no time, but the clock says 5 ms.
 *
 * @returns what has arrived by the end of each tick
 */
async function upload ({ rate, roundTrip, socket, stalls, measured }: Line, ticks: number): Promise<number[]> {
  const connection = Object.assign(new EventTarget(), { status: 'open', writableNeedsDrain: false, abort (): void {} })
  const pings: Array<{ sent: number, at?: number, resolve(): void }> = []
  const arrivals: number[] = []
  const { now } = performance
  let clock = now.call(performance)
  let sent = 0
  let arrived = 0
  let isFull = false

  const write = (bytes: number): boolean => {
    sent += bytes
    connection.writableNeedsDrain ||= sent - arrived >= socket

    return !connection.writableNeedsDrain
  }
  const sender: YamuxSender = new YamuxSender(connection as unknown as MessageStream, frame => write(frame.byteLength), async () => {
    const { promise, resolve } = Promise.withResolvers<void>()

    isFull = !sender.send(PING) || isFull
    pings.push({ sent, resolve })
    sender.onPing(clock)
    await promise
  }, measured)
  const fill = (): void => {
    while (!isFull) {
      isFull = !sender.send(FRAME)
    }
  }

  connection.addEventListener('drain', () => {
    if (sender.onDrain()) {
      isFull = false
      queueMicrotask(fill)
    }
  })

  performance.now = () => clock
  mock.timers.enable({ apis: ['setTimeout'] })

  try {
    fill()

    for (let tick = 0; tick < ticks; tick++) {
      const ms = 5 + (stalls.find(([at]) => at === tick)?.[1] ?? 0)

      clock += ms
      mock.timers.tick(ms)
      arrived = Math.min(sent, arrived + rate)

      for (const ping of pings) {
        if (ping.sent <= arrived) {
          ping.at ??= tick + roundTrip
        }
      }

      if (pings.length > 0 && pings[0].at === tick) {
        sender.onPong(clock)
        pings.shift()?.resolve()
      }

      if (connection.writableNeedsDrain && sent - arrived < socket / 2) {
        connection.writableNeedsDrain = false
        connection.dispatchEvent(new Event('drain'))
      }

      arrivals.push(arrived)

      // everything that is due in this turn
      await new Promise(resolve => { setImmediate(resolve) })
    }
  } finally {
    mock.timers.reset()
    performance.now = now
  }

  return arrivals
}

describe('what a muxer sends through a send window', () => {
  it('never stops, whatever the path, the socket and the event loop do', async () => {
    await fc.assert(fc.asyncProperty(fc.record<Line>({
      rate: fc.integer({ min: KiB, max: MiB }),
      roundTrip: fc.integer({ min: 1, max: 60 }),
      socket: fc.integer({ min: 2 * FRAME.byteLength, max: 4 * MiB }),
      stalls: fc.array(fc.tuple(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 1, max: 3_000 })), { maxLength: 6 }),
      measured: fc.option(fc.integer({ min: 5, max: 300 }), { nil: undefined })
    }), async line => {
      const arrivals = await upload(line, 1_300)

      expect(arrivals[1_299]).to.be.above(arrivals[899])
    }), {
      numRuns: 60,
      // the socket drains while the window is being measured
      examples: [[{ rate: KiB, roundTrip: 1, socket: 2 * FRAME.byteLength, stalls: [[17, 756]], measured: undefined }]]
    })
  }).timeout(60_000)
})
