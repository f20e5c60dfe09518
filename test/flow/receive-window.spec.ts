import { expect } from 'aegir/chai'
import fc from 'fast-check'
import { MAX_WINDOW, ReceiveWindow } from '../../src/flow/receive-window.ts'
import { RoundTrip } from '../../src/flow/round-trip.ts'
import { FIRST_WINDOW, FrameScanner } from '../../src/flow/yamux-frames.ts'

const KIB = 1024
const MIB = 1024 * KIB

const keepsUp = (): boolean => true

interface Path {
  /** Bytes per ms. Infinity: only TCP's slow start is in the way */
  rate: number

  /** ms */
  roundTrip: number

  /** What TCP sends at first, in bytes. Infinity: it is in no way, as on a connection that was busy before */
  congestionWindow?: number

  /** The receiver reads nothing in this time, in ms */
  busy?: [from: number, to: number]
}

interface Moment {
  at: number

  /** In flight or in queues, in bytes */
  inFlight: number
  received: number
  updates: number
}

/**
 * A muxer that grants 16 MiB at once, a sender that sends all that it may, and TCP that doubles
 * in each round trip until the line is full. In steps of 1 ms.
 */
function transfer ({ rate, roundTrip, congestionWindow = 32 * KIB, busy: [busyFrom, busyTo] = [0, 0] }: Path, duration: number): Moment[] {
  const path = new RoundTrip()
  const window = new ReceiveWindow(0, { left: 32 * MIB }, keepsUp)
  const moments: Moment[] = []
  /** What is under way to the sender: credit, and acknowledgements of TCP. By the time of arrival */
  const toSender = new Map<number, { credit: number, acked: number }>()
  const toReceiver: Array<{ at: number, bytes: number }> = []
  const half = roundTrip / 2
  let credit = FIRST_WINDOW
  let unacked = 0
  let lineFreeAt = 0
  let received = 0
  let updates = 0

  path.add(roundTrip, 0)
  window.withheld = MAX_WINDOW

  for (let now = 0; now < duration; now++) {
    const news = toSender.get(now)

    if (news != null) {
      credit += news.credit
      unacked -= news.acked
      congestionWindow = Math.min(congestionWindow + news.acked, Math.max(congestionWindow, 64 * MIB))
    }

    const bytes = Math.max(0, Math.min(credit, congestionWindow - unacked))

    if (bytes > 0) {
      credit -= bytes
      unacked += bytes
      // in pieces, or a burst would arrive at once
      for (let sent = 0; sent < bytes; sent += 16 * KIB) {
        const piece = Math.min(16 * KIB, bytes - sent)

        lineFreeAt = Math.max(lineFreeAt, now) + piece / rate
        toReceiver.push({ at: lineFreeAt + half, bytes: piece })
      }
    }

    const readAt = now >= busyFrom && now < busyTo ? -1 : now

    while (toReceiver.length > 0 && toReceiver[0].at <= readAt) {
      const { bytes } = toReceiver.shift() ?? { bytes: 0 }

      received += bytes
      window.onData(bytes, now, path)
      window.withheld += bytes
      window.onTaken(now, true, path)

      const due = window.due(0)

      if (due > 0) {
        window.grant(due, now)
        updates++
      }

      const back = Math.round(now + half)
      const news = toSender.get(back) ?? { credit: 0, acked: 0 }

      toSender.set(back, { credit: news.credit + due, acked: news.acked + bytes })
    }

    moments.push({ at: now, received, updates, inFlight: toReceiver.reduce((sum, { bytes }) => sum + bytes, 0) })
  }

  return moments
}

/**
 * Streams of one connection that send all that they may, over a line whose sender keeps what waits in a queue, as
 * its socket does. What is sent at once arrives as one message, as one of Noise does. In steps of 1 ms.
 */
function uploads ({ rate, roundTrip }: Path, streams: number, duration: number): { queued: number[], shares: number[] } {
  const path = new RoundTrip()
  const budget = { left: 32 * MIB }
  const windows = Array.from({ length: streams }, () => new ReceiveWindow(0, budget, keepsUp))
  const toSender: Array<{ at: number, index: number, credit: number }> = windows.map((_, index) => ({ at: 0, index, credit: FIRST_WINDOW }))
  const toReceiver: Array<{ at: number, index: number, bytes: number }> = []
  const shares = windows.map(() => 0)
  const queued: number[] = []
  let lineFreeAt = 0

  path.add(roundTrip, 0)
  windows.forEach(window => { window.withheld = MAX_WINDOW })

  for (let now = 0; now < duration; now++) {
    while (toSender.length > 0 && toSender[0].at <= now) {
      const { index, credit } = toSender.shift() ?? { index: 0, credit: 0 }

      for (let sent = 0; sent < credit; sent += 64 * KIB) {
        const bytes = Math.min(64 * KIB, credit - sent)

        lineFreeAt = Math.max(lineFreeAt, now) + bytes / rate
        toReceiver.push({ at: lineFreeAt + roundTrip / 2, index, bytes })
      }
    }

    while (toReceiver.length > 0 && toReceiver[0].at <= now) {
      const { index, bytes } = toReceiver.shift() ?? { index: 0, bytes: 0 }
      const window = windows[index]

      shares[index] += now >= duration / 2 ? bytes : 0

      for (let part = 0; part < bytes; part += 1_448) {
        window.onData(Math.min(1_448, bytes - part), now, path)
      }

      window.withheld += bytes
      window.onTaken(now, true, path)

      const credit = window.due(0)

      if (credit > 0) {
        window.grant(credit, now)
        toSender.push({ at: now + roundTrip / 2, index, credit })
      }
    }

    queued.push(Math.max(0, lineFreeAt - now))
  }

  return { queued, shares }
}

describe('the receive windows of streams that upload together', () => {
  for (const mbits of [2, 5, 10]) {
    for (const roundTrip of [20, 82, 200]) {
      for (const streams of [1, 2, 4, 8]) {
        it(`js-libp2p #3463: share ${mbits} Mbit/s over ${roundTrip} ms evenly, and let a ping pass, ${streams} streams`, () => {
          const rate = mbits * 125
          const { queued, shares } = uploads({ rate, roundTrip }, streams, 40_000)
          const sum = shares.reduce((sum, share) => sum + share)
          const latest = queued.slice(20_000).sort((a, b) => a - b)

          // each has 32 KiB and what comes in 250 ms, or in three round trips
          expect(latest[Math.floor(0.97 * latest.length)], 'ms in the queue').to.be.at.most(1.3 * (streams * 32 * KIB / rate + Math.max(250, 3 * roundTrip)))
          expect(sum / (rate * 20_000), 'of the line').to.be.above(0.95)
          expect(sum ** 2 / (streams * shares.reduce((sum, share) => sum + share ** 2, 0)), 'fairness')
            .to.be.above(3 * rate * roundTrip / streams < FIRST_WINDOW ? 0.98 : 0.95)
        })
      }
    }
  }

  it('are not smaller for a stream that pauses between its messages', () => {
    const path = new RoundTrip()
    const window = new ReceiveWindow(0, { left: 32 * MIB }, keepsUp)
    const message = 200 * KIB
    let now = 0

    path.add(80, 0)
    window.withheld = MAX_WINDOW

    for (let i = 0; i < 100; i++) {
      expect(window.credit, `before message ${i}`).to.be.at.least(message)

      for (let part = 0; part < message; part += 10 * KIB) {
        window.onData(10 * KIB, now, path)
        window.withheld += 10 * KIB
        window.onTaken(now, true, path)

        const due = window.due(0)

        if (due > 0) {
          window.grant(due, now)
        }
      }

      now += 1_000
    }
  })
})

describe('the receive window of a stream', () => {
  for (const [mbits, roundTrip] of [[2, 82], [10, 20], [10, 82], [10, 200], [50, 20], [50, 82], [50, 200], [200, 82], [200, 200]]) {
    it(`fills ${mbits} Mbit/s over ${roundTrip} ms, and no queue for long`, () => {
      const rate = mbits * 125
      const moments = transfer({ rate, roundTrip }, 80_000)
      const inTime = moments.filter(({ at }) => at >= 5_000)
      const sorted = inTime.map(({ inFlight }) => inFlight).sort((a, b) => a - b)
      // the round trip is measured anew from time to time
      const most = sorted[Math.floor(0.97 * sorted.length)]
      const delivered = inTime[inTime.length - 1].received - inTime[0].received

      expect(most / Math.max(FIRST_WINDOW, rate * roundTrip)).to.be.at.most(2.7)
      expect(delivered / (rate * 75_000)).to.be.above(0.97)
      expect(Math.max(...moments.map(({ inFlight }) => inFlight)) / rate, 'ms in the worst queue').to.be.below(1_300)
    })
  }

  it('is not in the way of slow start on a long fat path', () => {
    const moments = transfer({ rate: Infinity, roundTrip: 80 }, 2_000)

    // without any window: 32 KiB doubled in each round trip
    expect(moments.find(({ received }) => received >= 64 * MIB)?.at).to.be.below(80 * 13)
  })

  it('is in the way of a busy connection on a long fat path for no more than one round trip', () => {
    // windows of 16 MiB from the first update on would take 80 ms each
    const moments = transfer({ rate: 128 * KIB, roundTrip: 80, congestionWindow: Infinity }, 2_000)

    expect(moments.find(({ received }) => received >= 64 * MIB)?.at).to.be.below(64 * KIB / 128 + 3 * 80)
  })

  it('does not take what waited for a busy receiver for a fast path', () => {
    for (let from = 0; from < 2_000; from += 10) {
      const moments = transfer({ rate: 1_250, roundTrip: 82, busy: [from, from + 200] }, 5_000)

      expect(Math.max(...moments.map(({ inFlight }) => inFlight)), `busy from ${from} ms on`).to.be.below(1.5 * MIB)
    }
  })

  it('measures the round trip anew, while less is in flight', () => {
    const path = new RoundTrip()

    path.add(10, 0)
    path.add(100, 29_000)
    expect(path.isDraining(29_000)).to.equal(false)
    expect(path.isDraining(30_000)).to.equal(true)
    path.add(100, 30_010, true)
    expect(path.ms).to.equal(10)
    expect(path.isDraining(30_070)).to.equal(false)
    expect(path.ms).to.equal(100)
  })

  it('takes no more than its share of what all windows may have', () => {
    const path = new RoundTrip()
    const budget = { left: MIB }
    const windows = Array.from({ length: 4 }, () => new ReceiveWindow(0, budget, keepsUp))

    path.add(100, 0)

    for (let now = 10; now < 2_000; now += 10) {
      windows.forEach(window => {
        window.onData(MIB, now, path)
        window.withheld += MIB
        window.grant(window.due(0), now)
      })
    }

    expect(windows.reduce((sum, { credit }) => sum + credit, 0)).to.be.at.most(4 * FIRST_WINDOW + MIB)
    windows.forEach(window => { window.end() })
    expect(budget.left).to.equal(MIB)
  })

  it('is no larger later for a rate that the reader did not keep up with', () => {
    const path = new RoundTrip()
    let hasReadAll = false
    const window = new ReceiveWindow(0, { left: 32 * MIB }, () => hasReadAll)
    let now = 0

    path.add(5, 0)
    window.withheld = MAX_WINDOW

    for (let i = 1; i <= 40; i++) {
      // a busy machine: what has come meanwhile is there at once, and only now and then all was read before
      hasReadAll = i % 4 === 0
      now += hasReadAll ? 200 : 1

      const bytes = window.credit

      for (let part = 0; part < bytes; part += 64 * KIB) {
        window.onData(Math.min(64 * KIB, bytes - part), now, path)
      }

      window.withheld += bytes
      window.onTaken(now, false, path)
      const due = window.due(0)

      if (due > 0) {
        window.grant(due, now)
      }

      expect(window.credit, `after ${i} times`).to.be.at.most(FIRST_WINDOW)
    }
  })

  it('does not stay small where others have all that windows may have', () => {
    const path = new RoundTrip()
    const budget = { left: MIB }
    const window = new ReceiveWindow(0, budget, keepsUp)
    const upload = (now: number): void => {
      window.onData(window.credit, now, path)
      window.withheld = MAX_WINDOW
      window.onTaken(now, true, path)
      window.grant(window.due(0), now)
    }

    path.add(80, 0)

    for (let now = 10_000; now < 100_000; now += 10_000) {
      upload(now)
    }

    expect(window.credit).to.be.below(FIRST_WINDOW / 4)
    expect(budget.left, 'a small window gives nothing to others').to.equal(MIB)
    budget.left = 0

    for (let now = 100_000; now < 102_000; now += 80) {
      upload(now)
    }

    expect(window.credit).to.equal(FIRST_WINDOW)
    window.end()
    expect(budget.left).to.equal(0)
  })

  it('grants nothing for what nobody reads, and all of it later', () => {
    const window = new ReceiveWindow(0, { left: 0 }, keepsUp)
    const path = new RoundTrip()

    window.onData(FIRST_WINDOW, 1, path)
    window.withheld += FIRST_WINDOW

    expect(window.due(FIRST_WINDOW)).to.equal(0)
    expect(window.due(0)).to.equal(FIRST_WINDOW)
  })

  it('grants at most once for a hundred small messages', () => {
    const window = new ReceiveWindow(0, { left: 0 }, keepsUp)
    const path = new RoundTrip()
    let updates = 0

    for (let i = 0; i < 100; i++) {
      window.onData(KIB, i, path)
      window.withheld += KIB

      if (window.due(0) > 0) {
        window.grant(window.due(0), i)
        updates++
      }
    }

    expect(updates).to.be.at.most(1)
  })
})

describe('frames of yamux', () => {
  it('are found wherever what comes is cut', () => {
    const frame = fc.record({
      type: fc.constantFrom(0, 1, 2, 3),
      flags: fc.nat(0xffff),
      streamId: fc.nat(0xffffffff),
      length: fc.nat(300)
    })

    fc.assert(fc.property(fc.array(frame), fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }), (frames, cuts) => {
      const bytes = Buffer.concat(frames.map(({ type, flags, streamId, length }) => {
        const header = Buffer.alloc(12 + (type === 0 ? length : 0), 0xff)

        header[0] = 0
        header[1] = type
        header.writeUInt16BE(flags, 2)
        header.writeUInt32BE(streamId, 4)
        header.writeUInt32BE(length, 8)

        return header
      }))
      const seen: unknown[] = []
      let data = 0
      const scanner = new FrameScanner({
        onHeader: header => { seen.push(header) },
        onData: (_, bytes) => { data += bytes }
      })

      for (let offset = 0, i = 0; offset < bytes.byteLength; i++) {
        const cut = cuts[i % cuts.length]

        scanner.scan(bytes.subarray(offset, offset + cut))
        offset += cut
      }

      expect(seen).to.deep.equal(frames)
      expect(data).to.equal(frames.reduce((sum, { type, length }) => sum + (type === 0 ? length : 0), 0))
    }))
  })
})
