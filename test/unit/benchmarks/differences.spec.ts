import { expect } from 'aegir/chai'
import { differences, disagreements } from '../../../benchmarks/compare/differences.ts'
import { compare } from '../../../benchmarks/series.ts'
import type { Ratio } from '../../../benchmarks/compare/differences.ts'

function quoted (name: string, ratio: number): Ratio {
  return { benchmark: 'connect', name, ratio, noisy: false }
}

describe('benchmarks: a comparison', () => {
  it('is below 1 where the first takes less, and is made round by round', () => {
    // the machine was slow in the second round
    expect(compare([10, 100, 11], [20, 200, 20])).to.include({ ratio: 0.5, noisy: false })
  })

  it('tells noise from a difference', () => {
    expect(compare([10, 21, 10], [11, 20, 12])?.noisy).to.be.true()
  })

  it('of two runs agrees where every ratio is near enough, upwards and downwards', () => {
    const all = differences([quoted('a', 1), quoted('b', 1), quoted('c', 2), quoted('d', 2)], [quoted('a', 1.09), quoted('b', 0.91), quoted('c', 2.3), quoted('d', 1.7)])

    expect(all.map(({ percent }) => Math.round(percent))).to.deep.equal([9, -9, 15, -15])
    expect(disagreements(all, 10).map(({ name }) => name)).to.deep.equal(['c', 'd'])
    expect(disagreements(all, 16)).to.be.empty()
  })

  it('of two runs disagrees about what only one of them measured', () => {
    const all = differences([quoted('a', 1), quoted('b', 1)], [quoted('a', 1), quoted('c', 1)])

    expect(disagreements(all, 10).map(({ name }) => name)).to.deep.equal(['b', 'c'])
  })
})
