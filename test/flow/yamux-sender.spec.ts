import { mock } from 'node:test'
import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { YamuxSender } from '../../src/flow/yamux-sender.ts'
import { KiB, MiB } from '../fixtures/bytes.ts'
import type { MessageStream } from '@libp2p/interface'

const FRAME = new Uint8Array(16 * KiB)
const PING = new Uint8Array(12)

/** In ms */
const TICK = 5

/** Timers that are as late as the event loop: one that is set by another runs in a later tick */
class LateTimers {
  readonly #timers = new Set<{ at: number, ms: number, run(): void }>()
  readonly #now: () => number

  constructor (now: () => number) {
    this.#now = now
    mock.method(globalThis, 'setTimeout', (run: () => void, ms: number) => {
      const timer = {
        at: now() + ms,
        ms,
        run,
        unref: () => timer,
        refresh () { timer.at = now() + ms }
      }
      this.#timers.add(timer)

      return timer
    })
    mock.method(globalThis, 'clearTimeout', (timer: any) => { this.#timers.delete(timer) })
  }

  run (): void {
    for (const timer of [...this.#timers].filter(({ at }) => at <= this.#now())) {
      if (this.#timers.delete(timer)) {
        timer.run()
      }
    }
  }
}

interface Line {
  /** What arrives, in bytes a tick */
  rate: number

  /** How many ticks an answer takes besides, by tick */
  roundTrip: number | ((tick: number) => number)

  /** What the socket takes before it says that it is full, in bytes */
  socket: number

  /** A tick in which the event loop is late, and for how long, in ms */
  stalls: Array<[number, number]>

  /** The round trip, if it was measured before, in ms */
  measured?: number

  /** When the upload begins, as a tick. Before, there are only window updates, two a tick */
  uploadsFrom?: number
}

/**
 * A muxer that uploads by a sender over a socket: it goes on when 'drain' says so, as those of js-libp2p do.
 * A tick takes no time, but the clock says {@link TICK}.
 *
 * @returns what has arrived by the end of each tick
 */
async function upload ({ rate, roundTrip, socket, stalls, measured, uploadsFrom = 0 }: Line, ticks: number): Promise<number[]> {
  const connection = Object.assign(new EventTarget(), { status: 'open', writableNeedsDrain: false, abort (): void {} })
  const pings: Array<{ sent: number, at?: number, resolve(): void }> = []
  const arrivals: number[] = []
  const { now } = performance
  let clock = now.call(performance)
  let sent = 0
  let arrived = 0
  let isFull = false
  let isUploading = false

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

      if (isUploading) {
        queueMicrotask(fill)
      }
    }
  })

  performance.now = () => clock

  const timers = new LateTimers(() => clock)

  try {
    for (let tick = 0; tick < ticks; tick++) {
      const ms = TICK + (stalls.find(([at]) => at === tick)?.[1] ?? 0)

      clock += ms
      timers.run()
      arrived = Math.min(sent, arrived + rate * ms / TICK)

      for (const ping of pings) {
        if (ping.sent <= arrived) {
          ping.at ??= clock + TICK * (typeof roundTrip === 'number' ? roundTrip : roundTrip(tick))
        }
      }

      if (pings.length > 0 && (pings[0].at ?? Infinity) <= clock) {
        sender.onPong(clock)
        pings.shift()?.resolve()
      }

      if (connection.writableNeedsDrain && sent - arrived < socket / 2) {
        connection.writableNeedsDrain = false
        connection.dispatchEvent(new Event('drain'))
      }

      if (tick < uploadsFrom) {
        isFull = [PING, PING].map(update => sender.send(update)).includes(false) || isFull
      } else if (!isUploading) {
        isUploading = true
        fill()
      }

      arrivals.push(arrived)

      // everything that is due in this turn
      await new Promise(resolve => { setImmediate(resolve) })
    }
  } finally {
    mock.restoreAll()
    performance.now = now
  }

  return arrivals
}

describe('what a muxer sends through a send window', () => {
  it('never stops, whatever the path, the socket and the event loop do', async () => {
    await fc.assert(fc.asyncProperty(fc.record<Line>({
      rate: fc.integer({ min: KiB, max: 128 * KiB }),
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

  for (const busy of [60, 100, 200, 400]) {
    it(`fills a line although the event loop is late by ${busy} ms again and again`, async () => {
      const rate = 6_250
      const ticks = 1_000
      const stalls = Array.from({ length: ticks / 2 }, (_, i): [number, number] => [2 * i, busy])
      const arrivals = await upload({ rate, roundTrip: 16, socket: MiB, stalls, measured: 80 }, ticks)
      const elapsed = ticks / 2 + ticks / 4 * busy / TICK

      // as without a pace
      expect(arrivals[ticks - 1] - arrivals[ticks / 2 - 1]).to.be.above(0.86 * rate * elapsed)
    })
  }

  it('is not slow for long behind window updates whose answers were slow', async () => {
    const uploadsFrom = 8_000
    const arrivals = await upload({
      rate: 62_500,
      roundTrip: tick => tick < uploadsFrom ? 120 : 4,
      socket: 4 * MiB,
      stalls: [],
      measured: 20,
      uploadsFrom
    }, uploadsFrom + 200)

    expect(arrivals[uploadsFrom + 199] - arrivals[uploadsFrom]).to.be.above(MiB)
  }).timeout(30_000)
})
