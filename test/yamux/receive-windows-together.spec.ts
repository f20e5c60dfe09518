import { expect } from 'aegir/chai'
import { FIRST_WINDOW } from '../../src/yamux/frames.ts'
import { ReceiveWindow } from '../../src/yamux/receive-window.ts'
import { RoundTrip } from '../../src/yamux/round-trip.ts'
import { WindowBudget } from '../../src/yamux/window-budget.ts'
import { KiB, MiB } from '../fixtures/bytes.ts'
import { jain } from '../lab/statistics.ts'
import { keepsUp, take, uploads } from './fixtures/window-paths.ts'

/** In ms, of which the second half counts: a round takes more than a second at first */
const DURATION = 30_000

describe('the receive windows of streams that upload together', () => {
  for (const mbits of [2, 5, 10]) {
    for (const roundTrip of [20, 82, 200]) {
      for (const streams of [1, 2, 4, 8]) {
        it(`js-libp2p #3463: share ${mbits} Mbit/s over ${roundTrip} ms evenly, and let a ping pass, ${streams} streams`, () => {
          const rate = mbits * 125
          const { queued, shares } = uploads({ rate, roundTrip }, streams, 40_000)
          const sum = shares.reduce((sum, share) => sum + share)
          const latest = queued.slice(20_000).sort((a, b) => a - b)

          // each has 32 KiB, one alone 64 KiB, and what comes in 250 ms, or in three round trips
          expect(latest[Math.floor(0.97 * latest.length)], 'ms in the queue').to.be.at.most(1.3 * (Math.max(64, streams * 32) * KiB / rate + Math.max(250, 3 * roundTrip)))
          expect(sum / (rate * 20_000), 'of the line').to.be.above(0.95)
          expect(jain(shares), 'fairness')
            .to.be.above(3 * rate * roundTrip / streams < FIRST_WINDOW ? 0.98 : 0.95)
        })
      }
    }
  }

  for (const mbits of [50, 200]) {
    for (const roundTrip of [20, 82, 200]) {
      it(`become equal over ${mbits} Mbit/s and ${roundTrip} ms if one of four has begun before the others`, () => {
        const rate = mbits * 125
        const { shares } = uploads({ rate, roundTrip }, 4, DURATION, 3_000)
        const sum = shares.reduce((sum, share) => sum + share)

        expect(jain(shares), `${shares}`).to.be.above(0.98)
        expect(sum / (rate * DURATION / 2), 'of the line').to.be.above(0.95)
      })
    }
  }

  it('are no smaller than 32 KiB for a stream that has brought little', () => {
    const path = new RoundTrip()
    const window = new ReceiveWindow(0, new WindowBudget(32 * MiB), keepsUp)

    path.add(80, 0)

    for (let now = 10_000; now < 200_000; now += 10_000) {
      for (let part = 0; part < 65 * KiB; part += 13 * KiB) {
        window.onData(Math.min(13 * KiB, window.credit), now, path)
        take(window, now, path)
      }

      expect(window.credit, `after ${now} ms`).to.be.at.least(32 * KiB)
    }
  })

  it('are not smaller for a stream that pauses between its messages', () => {
    const path = new RoundTrip()
    const window = new ReceiveWindow(0, new WindowBudget(32 * MiB), keepsUp)
    const message = 200 * KiB
    let now = 0

    path.add(80, 0)

    for (let i = 0; i < 100; i++) {
      expect(window.credit, `before message ${i}`).to.be.at.least(message)

      for (let part = 0; part < message; part += 10 * KiB) {
        window.onData(10 * KiB, now, path)
        take(window, now, path)
      }

      now += 1_000
    }
  })
})
