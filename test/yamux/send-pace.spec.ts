import { expect } from 'aegir/chai'
import { SendPace, frameBytes } from '../../src/yamux/send-pace.ts'
import { KiB } from '../fixtures/bytes.ts'

describe('the pace of a send window', () => {
  it('spreads what is sent at once', () => {
    const pace = new SendPace()

    // a pause before it is made up for, for 50 ms
    pace.onSent(300_000, 1_000, 10_000)
    expect(pace.wait(1_000, 10_000)).to.equal(150)
    expect(pace.wait(1_000, 10_100)).to.equal(50)
    expect(pace.wait(1_000, 10_150)).to.equal(0)
  })

  it('is not held up by a frame that has arrived, whatever the rate was taken for', () => {
    const pace = new SendPace()

    pace.onSent(250_000, 1, 10_000)
    expect(pace.wait(1, 10_000)).to.be.above(100_000)
    pace.onArrived(0, false, 1, 10_150)
    expect(pace.wait(5_000, 10_150)).to.equal(0)
  })

  it('does not make up for time in which the window was full', () => {
    const pace = new SendPace()

    pace.onSent(0, 1_000, 10_000)
    pace.onArrived(1_000_000, true, 1_000, 20_000)
    pace.onSent(30_000, 1_000, 20_000)
    expect(pace.wait(1_000, 20_000)).to.equal(20)
  })

  it('has frames that take the line no longer than 10 ms, of 4 to 64 KiB', () => {
    expect([1, 409.7, 1_250.5, 6_553.7, undefined].map(rate => frameBytes(rate))).to.deep.equal([4 * KiB, 4_097, 12_505, 64 * KiB, 64 * KiB])
  })
})
