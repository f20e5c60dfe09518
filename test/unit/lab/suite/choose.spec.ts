import { expect } from 'aegir/chai'
import { choose } from '../../../lab/suite/choose.ts'

const cells = ['ours', 'ours, 11 streams', 'official', 'official, 11 streams']
const nameOf = (cell: string): string => cell

describe('suites: the choice of cells', () => {
  it('is the cell with that name, or else those that have it in theirs', () => {
    expect(choose(cells, nameOf, { only: 'ours', sample: 1, seed: 1 })).to.deep.equal(['ours'])
    expect(choose(cells, nameOf, { only: 'streams', sample: 1, seed: 1 })).to.deep.equal(['ours, 11 streams', 'official, 11 streams'])
  })

  it('of none is an error, so that nothing passes because nothing ran', () => {
    expect(() => choose(cells, nameOf, { only: 'go', sample: 1, seed: 1 })).to.throw('No cell has "go" in its name')
  })

  it('is the same with the same seed, and leaves only those to chance that it may', () => {
    const chosen = [1, 2, 3, 4, 5].map(seed => choose(cells, nameOf, { sample: 0.3, seed }, cell => cell !== 'official'))

    expect(chosen).to.deep.equal([1, 2, 3, 4, 5].map(seed => choose(cells, nameOf, { sample: 0.3, seed }, cell => cell !== 'official')))
    expect(chosen.every(cells => cells.length === 2 && cells.includes('official'))).to.be.true()
    expect(new Set(chosen.flat())).to.have.property('size').that.is.above(2)
  })
})
