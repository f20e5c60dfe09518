import { expect } from 'aegir/chai'
import { medians } from '../../../benchmarks/measurements.ts'
import type { Measurements } from '../../../benchmarks/measurements.ts'

describe('benchmarks: measurements', () => {
  const cpu = (value: number): Measurements => [{ metric: 'cpu', unit: 'us/dial', value }]

  it('has the median of repetitions', () => {
    expect(medians([5, 1, 3].map(cpu))).to.deep.equal(cpu(3))
  })

  it('does without what was not measured each time', () => {
    const segments: Measurements = [{ metric: 'segments', unit: '/op', value: 2 }]

    expect(medians([[...cpu(1), ...segments], cpu(3), cpu(5)])).to.deep.equal([...cpu(3), ...segments])
  })
})
