import { expect } from 'aegir/chai'
import { errorOfMedian, overlaps, percentile, slopeOf, summarise } from '../../lab/statistics.ts'

describe('benchmarks: statistics', () => {
  it('sums up samples in any order', () => {
    expect(summarise([5, 1, 4, 2, 3])).to.deep.equal({ count: 5, min: 1, max: 5, median: 3, average: 3, p10: 1.4, p90: 4.6 })
  })

  it('does not reorder what it is given', () => {
    const samples = [3, 1, 2]
    summarise(samples)

    expect(samples).to.deep.equal([3, 1, 2])
  })

  it('takes the middle of an even number of samples', () => {
    expect(percentile([1, 2, 3, 10], 50)).to.equal(2.5)
  })

  it('takes one sample for every percentile', () => {
    expect([0, 10, 50, 90, 100].map(percent => percentile([7], percent))).to.deep.equal([7, 7, 7, 7, 7])
  })

  it('has no number for no samples', () => {
    expect(percentile([], 50)).to.be.NaN()
  })

  it('tells spreads apart', () => {
    const slow = summarise([100, 101, 102])

    expect(overlaps(slow, summarise([101, 102, 103]))).to.be.true()
    expect(overlaps(slow, summarise([103, 104, 105]))).to.be.false()
  })

  it('knows how far a median is to be trusted', () => {
    // a standard deviation of 1, as a part of 10, by the square root of 4, and what a median has more
    expect(errorOfMedian([9, 9, 11, 11])).to.be.closeTo(Math.sqrt(4 / 3) / 10 / 2 * 1.2533, 1e-4)
    expect(errorOfMedian([5, 5, 5])).to.equal(0)
    expect(errorOfMedian([5])).to.equal(Infinity)
    expect(errorOfMedian([])).to.equal(Infinity)
  })

  it('knows a slope and its standard error', () => {
    // residuals of a third, two thirds and a third: 2/3 over one degree of freedom and a square of 2
    expect(slopeOf([[0, 0], [1, 2], [2, 2]])).to.deep.equal({ slope: 1, error: Math.sqrt(1 / 3) })
    expect(slopeOf([[0, 0], [1, 1]]).slope).to.be.NaN()
  })
})
