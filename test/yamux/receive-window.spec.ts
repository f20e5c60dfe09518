import { expect } from 'aegir/chai'
import { FIRST_WINDOW } from '../../src/yamux/frames.ts'
import { ReceiveWindow } from '../../src/yamux/receive-window.ts'
import { RoundTrip } from '../../src/yamux/round-trip.ts'
import { WindowBudget } from '../../src/yamux/window-budget.ts'
import { KiB, MiB } from '../fixtures/bytes.ts'
import { keepsUp, take, transfer } from './fixtures/window-paths.ts'

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
      // while TCP starts
      expect(Math.max(...moments.map(({ inFlight }) => inFlight)), 'in the worst queue').to.be.at.most(Math.max(1.5 * FIRST_WINDOW, 6 * rate * roundTrip))
    })
  }

  for (const [mbits, roundTrip] of [[2, 82], [2, 200], [10, 20], [10, 82], [10, 200], [50, 82], [50, 200]]) {
    it(`lets a sender with BBR end its startup over ${mbits} Mbit/s and ${roundTrip} ms`, () => {
      const rate = mbits * 125
      // what BBR has in flight in its startup. It ends that after three rounds in which it did not lack data
      const mostInFlight = 2.89 * rate * roundTrip
      const round = mostInFlight / rate
      let busy = 0
      let longest = 0

      for (const { lacksCredit } of transfer({ rate, roundTrip, mostInFlight, frame: 64 * KiB }, 10_000)) {
        busy = lacksCredit ? 0 : busy + 1
        longest = Math.max(longest, busy)
      }

      expect(longest / round, 'rounds').to.be.above(4)
    })
  }

  it('is not in the way of slow start on a long fat path', () => {
    const moments = transfer({ rate: Infinity, roundTrip: 80 }, 2_000)

    // without any window: 32 KiB doubled in each round trip
    expect(moments.find(({ received }) => received >= 64 * MiB)?.at).to.be.below(80 * 13)
  })

  it('is in the way of a busy connection on a long fat path for no more than one round trip', () => {
    // windows of 16 MiB from the first update on would take 80 ms each
    const moments = transfer({ rate: 128 * KiB, roundTrip: 80, congestionWindow: Infinity }, 2_000)

    expect(moments.find(({ received }) => received >= 64 * MiB)?.at).to.be.below(64 * KiB / 128 + 3 * 80)
  })

  for (const firstWindow of [MiB, 4 * MiB]) {
    for (const frame of [64 * KiB, 512 * KiB]) {
      it(`grows from first windows of ${firstWindow / MiB} MiB at both ends, with frames of ${frame / KiB} KiB`, () => {
        const rate = 200 * 125
        const moments = transfer({ rate, roundTrip: 200, frame, firstWindow }, 20_000)
        const inTime = moments.filter(({ at }) => at >= 5_000)

        expect((moments[19_999].received - moments[5_000].received) / (rate * 15_000)).to.be.above(0.97)
        expect(Math.max(...inTime.map(({ inFlight }) => inFlight))).to.be.below(3 * rate * 200 + firstWindow)
      })
    }
  }

  it('does not take what had come behind a lost packet for a fast path', () => {
    // while TCP starts, and later
    for (const [from, gain] of [[3_000, 6], [5_000, 3.5], [7_000, 3.5]]) {
      const moments = transfer({ rate: 1_250, roundTrip: 200, busy: [from, from + 600] }, 12_000)
      const later = moments.filter(({ at }) => at > from + 900).map(({ inFlight }) => inFlight)

      expect(Math.max(...later), `lost after ${from} ms`).to.be.below(gain * 1_250 * 200)
    }
  })

  it('does not take what waited for a busy receiver for a fast path', () => {
    for (let from = 0; from < 2_000; from += 10) {
      const moments = transfer({ rate: 1_250, roundTrip: 82, busy: [from, from + 200] }, 5_000)

      expect(Math.max(...moments.map(({ inFlight }) => inFlight)), `busy from ${from} ms on`).to.be.below(1.5 * MiB)
    }
  })

  it('measures the round trip anew, while less is in flight', () => {
    const path = new RoundTrip()

    path.add(20, 0)
    path.add(100, 29_000)
    expect(path.isDraining(29_000)).to.equal(false)
    expect(path.isDraining(30_000)).to.equal(true)
    path.add(100, 30_010, true)
    expect(path.ms).to.equal(20)
    expect(path.isDraining(30_130)).to.equal(false)
    expect(path.ms).to.equal(100)
  })

  it('takes no more than its share of what all windows may have', () => {
    const path = new RoundTrip()
    const budget = new WindowBudget(MiB)
    const windows = Array.from({ length: 4 }, () => new ReceiveWindow(0, budget, keepsUp))

    path.add(100, 0)

    for (let now = 10; now < 2_000; now += 10) {
      windows.forEach(window => {
        window.onData(MiB, now, path)
        window.grant(window.due(0), now)
      })
    }

    expect(windows.reduce((sum, { credit }) => sum + credit, 0)).to.be.at.most(4 * FIRST_WINDOW + MiB)
    windows.forEach(window => { window.end() })
    expect(budget.left).to.equal(MiB)
  })

  it('is no larger later for a rate that the reader did not keep up with', () => {
    const path = new RoundTrip()
    let hasReadAll = false
    const window = new ReceiveWindow(0, new WindowBudget(32 * MiB), () => hasReadAll)
    let now = 0

    path.add(5, 0)

    for (let i = 1; i <= 40; i++) {
      // a busy machine: what has come meanwhile is there at once, and only now and then all was read before
      hasReadAll = i % 4 === 0
      now += hasReadAll ? 200 : 1

      const bytes = window.credit

      for (let part = 0; part < bytes; part += 64 * KiB) {
        window.onData(Math.min(64 * KiB, bytes - part), now, path)
      }

      take(window, now, path, false)
      expect(window.credit, `after ${i} times`).to.be.at.most(1.5 * FIRST_WINDOW)
    }
  })

  it('does not stay small where others have all that windows may have', () => {
    const path = new RoundTrip()
    const budget = new WindowBudget(MiB)
    const window = new ReceiveWindow(0, budget, keepsUp)
    const upload = (now: number): void => {
      window.onData(window.credit, now, path)
      window.onTaken(now, true, path)
      window.grant(window.due(0), now)
    }

    path.add(80, 0)

    for (let now = 10_000; now < 100_000; now += 10_000) {
      upload(now)
    }

    expect(window.credit).to.be.below(FIRST_WINDOW / 3)
    expect(budget.left, 'a small window gives nothing to others').to.equal(MiB)
    budget.left = 0

    for (let now = 100_000; now < 102_000; now += 80) {
      upload(now)
    }

    expect(window.credit).to.equal(FIRST_WINDOW)
    window.end()
    expect(budget.left).to.equal(0)
  })

  it('grants nothing for what nobody reads, and all of it later', () => {
    const window = new ReceiveWindow(0, new WindowBudget(0), keepsUp)
    const path = new RoundTrip()

    window.onData(FIRST_WINDOW, 1, path)

    expect(window.due(FIRST_WINDOW)).to.equal(0)
    expect(window.due(0)).to.equal(FIRST_WINDOW)
  })

  it('grants at most once for a hundred small messages', () => {
    const window = new ReceiveWindow(0, new WindowBudget(0), keepsUp)
    const path = new RoundTrip()
    let updates = 0

    for (let i = 0; i < 100; i++) {
      window.onData(KiB, i, path)

      if (window.due(0) > 0) {
        window.grant(window.due(0), i)
        updates++
      }
    }

    expect(updates).to.be.at.most(1)
  })
})
