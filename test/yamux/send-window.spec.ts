import { expect } from 'aegir/chai'
import { SendPace, frameBytes } from '../../src/yamux/send-pace.ts'
import { SendWindow } from '../../src/yamux/send-window.ts'
import { KiB, MiB } from '../fixtures/bytes.ts'

interface Path {
  /** In bytes a ms, by time */
  rate(now: number): number

  /** In ms, by time; with what the peer has in its queues for us */
  roundTrip(now: number): number

  /** How much the kernel takes, in bytes, by time. By default twelve round trips */
  kernel?(now: number): number

  /** When the application has something to send. By default always */
  sends?(now: number): boolean

  /** What is sent besides, and never waits, in bytes a ms: what the muxer answers data of the peer with */
  answers?: number
}

interface Moment {
  at: number

  /** How long a message that is sent now would wait, in ms */
  wait: number
  delivered: number
}

/** A connection that sends as much as it may, in steps of 1 ms */
function send (window: SendWindow, { rate, roundTrip, kernel = now => 12 * rate(now) * roundTrip(now), sends = () => true, answers = 0 }: Path, end: number): Moment[] {
  const moments: Moment[] = []
  /** Pings behind what was sent before, and answers by when they come */
  const pings: number[] = []
  const pongs: number[] = []
  const pace = new SendPace()
  let sent = 0
  let delivered = 0
  let heldUntil = 0

  const ping = (now: number): void => {
    pings.push(sent)
    window.onPing(now)
  }

  // as the muxer does when it begins
  ping(0)

  for (let now = 0; now < end; now++) {
    if (pongs[0] <= now) {
      pongs.shift()

      if (window.rate != null) {
        pace.onArrived(window.behindPing, window.isFull(now), window.rate, now)
      }

      if (window.onPong(now)) {
        ping(now)
      }
    }

    if (answers > 0) {
      sent += answers
      window.onSent(answers, now)
    }

    while (sends(now) && now >= heldUntil && !window.isFull(now) && sent - delivered < kernel(now)) {
      const bytes = frameBytes(window.rate)

      sent += bytes
      window.onSent(bytes, now)

      if (window.rate != null) {
        pace.onSent(bytes, window.rate, now)
        heldUntil = now + pace.wait(window.rate, now)
      }

      if (window.needsPing(now)) {
        ping(now)
      }
    }

    delivered = Math.min(sent, delivered + rate(now))

    while (pings[0] <= delivered) {
      pings.shift()
      pongs.push(now + roundTrip(now))
    }

    moments.push({ at: now, wait: (sent - delivered) / rate(now), delivered })
  }

  return moments
}

/** The part of the line that was used, and the longest wait */
function summary (moments: Moment[], rate: number, from: number, to = Infinity): { used: number, longest: number } {
  const between = moments.filter(({ at }) => at >= from && at < to)

  return {
    used: (between[between.length - 1].delivered - between[0].delivered) / rate / (between.length - 1),
    longest: Math.max(...between.map(({ wait }) => wait))
  }
}

describe('the send window of a connection', () => {
  for (const mbits of [0.5, 2, 10, 50, 200]) {
    for (const roundTrip of [20, 82, 200]) {
      it(`fills ${mbits} Mbit/s over ${roundTrip} ms, and no queue for long`, () => {
        const rate = mbits * 125
        const moments = send(new SendWindow(), { rate: () => rate, roundTrip: () => roundTrip, kernel: () => Math.max(256 * KiB, 12 * rate * roundTrip) }, 90_000)
        const { used, longest } = summary(moments, rate, 15_000)

        const part = Math.max(1.5 * roundTrip, 125, 32 * KiB / rate)
        const frame = frameBytes(rate) / rate

        expect(used).to.be.above(0.98)
        // two parts, less what arrives while the answer is on its way and while a part is sent
        expect(longest).to.be.at.most(2 * part - roundTrip - part / 3 + 2 * frame + 2)
      })
    }
  }

  it('is not there on a path without a queue', () => {
    const window = new SendWindow()
    const moments = send(window, { rate: () => 12_500, roundTrip: () => 80, kernel: () => 12_500 * 100 }, 60_000)

    expect(window.isFull(60_000)).to.equal(false)
    expect(summary(moments, 12_500, 1_000).longest).to.be.above(99)
  })

  it('is not in the way of slow start, which lets the kernel take more and more', () => {
    const slowStart = (now: number): number => Math.min(1_000 * KiB, 14 * KiB / 80 * 2 ** (now / 80))
    const moments = send(new SendWindow(), { rate: slowStart, roundTrip: () => 80, kernel: now => 6 * 80 * slowStart(now) }, 5_000)

    moments.forEach(({ at, wait }) => {
      expect(wait, `after ${at} ms`).to.be.above(0)
    })
  })

  it('follows a line that becomes slower, and then faster', () => {
    const rate = (now: number): number => now > 20_000 && now < 50_000 ? 250 : 2_500
    const moments = send(new SendWindow(), { rate, roundTrip: () => 82, kernel: () => 4 * MiB }, 80_000)

    expect(summary(moments, 250, 40_000, 50_000).longest).to.be.below(500)
    expect(summary(moments, 2_500, 55_000).used).to.be.above(0.98)
    expect(summary(moments, 2_500, 60_000).longest).to.be.below(400)
  })

  it('follows a path that becomes longer, also one that the peer fills', () => {
    for (const longer of [200, 400, 1_000, 2_000]) {
      const moments = send(new SendWindow(), { rate: () => 1_250, roundTrip: now => now < 20_000 ? 82 : longer }, 120_000)

      expect(summary(moments, 1_250, 60_000).used, `${longer} ms`).to.be.above(0.95)
    }
  })

  it('follows a path that becomes shorter', () => {
    const moments = send(new SendWindow(), { rate: () => 1_250, roundTrip: now => now < 20_000 ? 400 : 40, kernel: () => 8 * MiB }, 120_000)

    expect(summary(moments, 1_250, 60_000).used).to.be.above(0.98)
    expect(summary(moments, 1_250, 60_000).longest).to.be.below(350)
  })

  it('is no smaller for an application that sends little meanwhile', () => {
    const moments = send(new SendWindow(), { rate: () => 1_250, roundTrip: () => 82, sends: now => now < 10_000 || now > 60_000 || now % 1_000 === 0, kernel: () => MiB }, 70_000)

    expect(summary(moments, 1_250, 60_500).used).to.be.above(0.98)
  })

  it('measures a path whose first ping was slow', () => {
    // pings of the muxer are off, and the first is behind an upload
    const moments = send(new SendWindow(), { rate: () => 250, roundTrip: now => now < 100 ? 3_000 : 82, kernel: () => MiB }, 120_000)

    expect(summary(moments, 250, 112_000).longest).to.be.below(500)
  })

  it('is not misled for long by one slow answer while it measures the path', () => {
    const late = (now: number): number => now > 30_000 && now < 40_000 ? 3_000 : 82
    const moments = send(new SendWindow(), { rate: () => 1_250, roundTrip: late, kernel: () => 8 * MiB }, 120_000)

    expect(summary(moments, 1_250, 50_000).longest).to.be.below(1_000)
    expect(summary(moments, 1_250, 80_000).longest).to.be.below(400)
  })

  for (const late of [1_000, 2_000, 3_000]) {
    it(`is not misled for long by a host that was busy for the first ${late} ms`, () => {
      const moments = send(new SendWindow(), { rate: () => 1_250, roundTrip: now => now < late ? 700 : 82, kernel: () => 8 * MiB }, 30_000)

      expect(summary(moments, 1_250, 10_000).longest).to.be.below(400)
    })
  }

  it('does not stop a sender whose muxer answers data of the peer all the time', () => {
    const moments = send(new SendWindow(), { rate: () => 1_250, roundTrip: () => 82, answers: 100 }, 90_000)

    for (let from = 15_000; from < 90_000; from += 15_000) {
      expect(summary(moments, 1_250, from, from + 15_000).used, `from ${from} ms on`).to.be.above(0.95)
    }
  })

  it('is gone when pings are not answered any more', () => {
    const window = new SendWindow()

    send(window, { rate: () => 250, roundTrip: () => 82, kernel: () => MiB }, 20_000)
    window.onSent(MiB, 20_000)
    expect(window.isFull(20_000)).to.equal(true)
    window.end()
    expect(window.isFull(20_000)).to.equal(false)
    expect(window.needsPing(20_001)).to.equal(false)
  })

  it('does nothing for a peer that never answers a ping', () => {
    const window = new SendWindow()

    send(window, { rate: () => 250, roundTrip: () => Infinity, kernel: () => MiB }, 60_000)
    expect(window.isFull(60_000)).to.equal(false)
  })
})
