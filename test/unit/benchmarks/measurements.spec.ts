import { expect } from 'aegir/chai'
import { combined } from '../../../benchmarks/measurements.ts'
import { average, median } from '../../../benchmarks/statistics.ts'
import type { Measurements } from '../../../benchmarks/measurements.ts'

describe('benchmarks: measurements', () => {
  const cpu = (value: number): Measurements => [{ metric: 'cpu', unit: 'us/dial', value }]

  it('sums repetitions up as it is asked to', () => {
    expect(combined([5, 1, 6].map(cpu), median)).to.deep.equal(cpu(5))
    expect(combined([5, 1, 6].map(cpu), average)).to.deep.equal(cpu(4))
  })

  it('does without what was not measured each time', () => {
    const segments: Measurements = [{ metric: 'segments', unit: '/op', value: 2 }]

    expect(combined([[...cpu(1), ...segments], cpu(3), cpu(5)], median)).to.deep.equal([...cpu(3), ...segments])
  })
})
