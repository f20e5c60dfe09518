import { expect } from 'aegir/chai'
import { averages } from '../../../lab/measure/measurements.ts'
import type { Measurements } from '../../../lab/measure/measurements.ts'

describe('benchmarks: measurements', () => {
  const cpu = (value: number): Measurements => [{ metric: 'cpu', unit: 'us/dial', value }]

  it('has the average of repetitions', () => {
    expect(averages([5, 1, 6].map(cpu))).to.deep.equal(cpu(4))
  })

  it('does without what was not measured each time', () => {
    const segments: Measurements = [{ metric: 'segments', unit: '/op', value: 2 }]

    expect(averages([[...cpu(1), ...segments], cpu(3), cpu(8)])).to.deep.equal([...cpu(4), ...segments])
  })
})
