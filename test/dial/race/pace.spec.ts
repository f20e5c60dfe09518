import { expect } from 'aegir/chai'
import { Pace } from '../../../src/dial/race/pace.ts'
import { beginPatience, judgeUnfinished, patienceUntil } from '../../../src/dial/race/patience.ts'
import type { Attempt } from '../../../src/dial/race/entrant.ts'
import type { Socket } from 'node:net'

/** Between two readings of the clock, in ms */
const TOLERANCE = 20

describe('when the attempts of a race are due', () => {
  it('is at once for the first, and after the delay for the second', () => {
    const pace = new Pace(3, 250)
    expect(pace.due(0)).to.be.below(performance.now())
    pace.start()

    expect(pace.due(1) - performance.now()).to.be.closeTo(250, TOLERANCE)
  })

  it('is 10 ms after the last if one has failed, or none is under way', () => {
    const pace = new Pace(3, 250)
    pace.start()
    expect(pace.due(0) - performance.now()).to.be.closeTo(10, TOLERANCE)

    pace.fail()
    expect(pace.due(1) - performance.now()).to.be.closeTo(10, TOLERANCE)

    // one was replaced, and the third is not due
    pace.start()
    expect(pace.due(2) - performance.now()).to.be.closeTo(500, TOLERANCE)
  })

  it('is 10 ms after the last for those that are begun again', () => {
    const pace = new Pace(1, 250)
    pace.start()
    pace.start()

    expect(pace.started).to.equal(2)
    expect(pace.due(1) - performance.now()).to.be.closeTo(10, TOLERANCE)
  })
})

describe('the patience with an upgrade', () => {
  function connectedAfter (ms: number, bytesRead = 0): Attempt {
    const attempt: Attempt = { controller: new AbortController(), since: performance.now() - ms, socket: { bytesRead } as Socket }

    beginPatience(attempt, 250)

    return attempt
  }

  it('is the delay of an attempt, three times as long as the connect of a distant peer took, and a second at most', () => {
    for (const [ms, left] of [[1, 249], [200, 400], [900, 1_000]]) {
      const attempt = connectedAfter(ms)

      expect((patienceUntil(attempt, 250) ?? 0) - performance.now()).to.be.closeTo(left, TOLERANCE)
    }
  })

  it('ends at once for a peer that says nothing, and is extended once for one that has spoken', () => {
    const mute = connectedAfter(300)
    mute.lateAt = performance.now() - 1
    expect(patienceUntil(mute, 250)).to.equal(undefined)

    const slow = connectedAfter(1, 1)
    slow.lateAt = performance.now() - 1
    expect((patienceUntil(slow, 250) ?? 0) - performance.now()).to.be.closeTo(999, TOLERANCE)
    slow.lateAt = performance.now() - 1
    expect(patienceUntil(slow, 250)).to.equal(undefined)
  })

  it('with an address that a race leaves behind depends on how long it was silent', () => {
    const since = (ms: number): Attempt => ({ controller: new AbortController(), since: performance.now() - ms })

    expect(judgeUnfinished('connecting', 1, since(100), 250, 6_000)).to.deep.equal({ isSilent: false, isFailed: false })
    expect(judgeUnfinished('connecting', 1, since(300), 250, 6_000)).to.deep.equal({ isSilent: true, isFailed: false })
    expect(judgeUnfinished('connecting', 2, since(300), 250, 6_000)).to.deep.equal({ isSilent: true, isFailed: true })
    expect(judgeUnfinished('connecting', 1, since(5_600), 250, 6_000)).to.deep.equal({ isSilent: true, isFailed: true })
    expect(judgeUnfinished('upgrading', 1, since(3_100), 250, 6_000)).to.deep.equal({ isSilent: false, isFailed: true })
  })
})
