import { expect } from 'aegir/chai'
import { interleave } from '../../../../benchmarks/connect/run.ts'
import { seededRandom, shuffled } from '../../../lab/process/random.ts'
import type { FirstByte } from '../../../lab/peers/contender.ts'

const sample: FirstByte = { connect: 1, security: 0, muxer: 0, stream: 0, firstByte: 1, total: 2, close: 0 }

describe('benchmarks: order of runs', () => {
  it('repeats itself for the same seed', () => {
    const items = Array.from({ length: 20 }, (_, i) => i)

    expect(shuffled(items, seededRandom(7))).to.deep.equal(shuffled(items, seededRandom(7)))
    expect(shuffled(items, seededRandom(7))).to.not.deep.equal(shuffled(items, seededRandom(8)))
    expect(shuffled(items, seededRandom(7))).to.have.members(items)
  })

  it('lets each come first equally often', () => {
    const random = seededRandom(1)
    const first = { a: 0, b: 0, c: 0 }

    for (let i = 0; i < 3_000; i++) {
      first[shuffled(['a', 'b', 'c'] as const, random)[0]]++
    }

    Object.values(first).forEach(count => expect(count).to.be.within(900, 1_100))
  })

  it('spreads over 0 to 1', () => {
    const random = seededRandom(1)
    const numbers = Array.from({ length: 10_000 }, random)

    expect(Math.min(...numbers)).to.be.within(0, 0.01)
    expect(Math.max(...numbers)).to.be.within(0.99, 1)
    expect(numbers.reduce((sum, number) => sum + number) / numbers.length).to.be.within(0.48, 0.52)
  })

  it('times each rival once a round, warm-ups apart', async () => {
    const contenders = ['a', 'b', 'c'].map(name => ({ name, dial: async () => sample }))
    const runs = await interleave(contenders, { runs: 3, warmUps: 1, random: seededRandom(1) })

    for (const round of [0, 1, 2, 3]) {
      expect(runs.filter(({ run }) => run === round).map(({ rival }) => rival)).to.have.members(['a', 'b', 'c'])
    }
  })

  it('goes on after a failure and says why', async () => {
    const contenders = [
      { name: 'a', dial: async () => { throw new Error('refused') } },
      { name: 'b', dial: async () => sample }
    ]
    const runs = await interleave(contenders, { runs: 1, warmUps: 0, random: () => 0 })

    expect(runs).to.have.deep.members([{ rival: 'a', run: 1, failure: 'refused' }, { rival: 'b', run: 1, sample }])
  })
})
