import { expect } from 'aegir/chai'
import { REMINDER_INTERVAL, Reminders } from '../../src/yamux/reminders.ts'
import { KiB, MiB } from '../fixtures/bytes.ts'

/** @returns when the peer is reminded of which stream */
function remindersUntil (reminders: Reminders<number>, end: number, from = 0): Array<[at: number, streamId: number]> {
  const all: Array<[number, number]> = []

  for (let now = from; now < end; now += REMINDER_INTERVAL) {
    const streamId = reminders.next(now)

    if (streamId != null) {
      all.push([now, streamId])
    }
  }

  return all
}

describe('the streams that a peer is reminded of', () => {
  it('js-libp2p #3463: are those that bring little, ever less often', () => {
    const reminders = new Reminders<number>(0)

    reminders.onFrame(1, 100, 0)
    expect(remindersUntil(reminders, 4_000).map(([at]) => at)).to.deep.equal([20, 60, 140, 300, 620, 1_260, 2_260, 3_260])

    reminders.onFrame(1, 100, 4_000)
    expect(remindersUntil(reminders, 4_100, 4_000).map(([at]) => at)).to.deep.equal([4_020, 4_060])
  })

  it('are one at a time, first the one that has waited longest', () => {
    const reminders = new Reminders<number>(0)

    for (let streamId = 1; streamId <= 4; streamId++) {
      reminders.onFrame(streamId, 0, 10 - streamId)
    }

    expect(remindersUntil(reminders, 100).slice(0, 4).map(([, streamId]) => streamId)).to.deep.equal([4, 3, 2, 1])
  })

  it('are none that upload, even slowly', () => {
    const reminders = new Reminders<number>(0)

    // four uploads over 0.5 Mbit/s
    for (let now = 0; now < 20_000; now += 4_000) {
      reminders.onFrame(1, 64 * KiB, now)
      expect(remindersUntil(reminders, now + 4_000, now)).to.deep.equal([])
    }

    expect(remindersUntil(reminders, 200_000, 20_000), 'long after it').to.not.be.empty()
  })

  it('are those again that have brought much at once, after a few seconds', () => {
    const reminders = new Reminders<number>(0)

    reminders.onFrame(1, 10 * MiB, 0)
    expect(remindersUntil(reminders, 10_000).map(([at]) => at)[0]).to.be.within(4_000, 6_000)

    reminders.onFrame(1, 100, 10_000)
    expect(remindersUntil(reminders, 10_100, 10_000).map(([at]) => at)).to.deep.equal([10_020, 10_060])
  })

  it('are none that have ended', () => {
    const reminders = new Reminders<number>(0)

    reminders.onFrame(1, 100, 0)
    reminders.end(1)
    expect(remindersUntil(reminders, 1_000)).to.deep.equal([])
  })

  it('are none when the peer uploads no more', () => {
    const reminders = new Reminders<number>(0)

    reminders.onMessage(64 * KiB)
    expect(reminders.isOver(999)).to.equal(false)
    expect(reminders.isOver(1_000)).to.equal(false)
    reminders.onMessage(KiB)
    expect(reminders.isOver(2_000)).to.equal(true)
  })
})
